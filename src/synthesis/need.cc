// SPDX-License-Identifier: MIT
// Every engine has a number that decides what it costs: deliveries, hops, transfers, probes. It
// follows from the network and the chunk count, and times what one of them was measured to cost
// gives time and memory to within a factor of two or so, which is enough to tell minutes from days.
// Where the engine chooses the chunk count, the smallest counts: it takes more only while that is
// cheap. docs/scale.md lists the estimates.
#include "synthesis/need.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/memory/room.h"
#include "base/numbers/wide.h"
#include "base/parallel/team.h"
#include "base/text/quantity.h"
#include "bound/instance.h"

namespace tacos {
namespace {

struct Costs {
  UInt128 bytes = 0;
  UInt128 nanoseconds = 0;
};

/// The numbers that estimates are made of.
struct Sizes {
  const Topology& topology;
  const Problem& problem;
  UInt128 npus;
  UInt128 links;
  UInt128 participants;
  /// Of each share of the buffer: participant's, pair's, or the whole.
  UInt128 chunks;

  Sizes(const Topology& network, const Problem& task)
      : topology(network),
        problem(task),
        npus(network.num_npus()),
        links(network.num_working_links()),
        participants(task.participants.size()),
        chunks(static_cast<std::uint64_t>(task.chunks.value_or(1))) {}

  [[nodiscard]] bool all_reduce() const { return traits(problem.kind).has_two_phases(); }
  [[nodiscard]] bool reduces() const { return traits(problem.kind).reduces; }
  [[nodiscard]] UInt128 phases() const { return all_reduce() ? 2 : 1; }
  /// Of engines in which an All-Reduce has as many chunks for each participant.
  [[nodiscard]] UInt128 dealt_chunks() const {
    if (is_rooted(problem.kind)) {
      return chunks;
    }
    return all_reduce() ? (chunks + participants - 1) / participants * participants
                        : chunks * participants;
  }
};

/// Adds who has what, and replaying the transfers: of sums 16 bytes a place, as many times as they
/// do not fit into 4 GiB.
void add_verification(
    const Sizes& sizes, UInt128 transfers, UInt128 chunks, UInt128 nanoseconds, Costs& costs) {
  const UInt128 places = sizes.npus * chunks;
  const UInt128 passes = sizes.reduces() ? 1 + places * 16 / (UInt128{4} << 30U) : 1;
  costs.bytes += places / 8;
  costs.nanoseconds += transfers * passes * nanoseconds;
}

/// How many links a message crosses, on average: from three of the participants, or from the root.
UInt128 average_way(const Sizes& sizes) {
  const Topology& topology = sizes.topology;
  const std::vector<NodeId>& all = sizes.problem.participants;
  std::vector<NodeId> starts{all.front(), all[all.size() / 2], all.back()};
  if (is_rooted(sizes.problem.kind)) {
    starts = {sizes.problem.root.value_or(all.front())};
  }
  constexpr std::uint32_t kUnseen = std::numeric_limits<std::uint32_t>::max();
  std::uint64_t sum = 0;
  for (const NodeId start : starts) {
    std::vector<std::uint32_t> distance(topology.num_nodes(), kUnseen);
    std::vector<NodeId> queue{start};
    distance[start.index()] = 0;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (const LinkId id : topology.out_links(queue[at])) {
        const NodeId other = topology.link(id).dst;
        if (distance[other.index()] == kUnseen) {
          distance[other.index()] = distance[queue[at].index()] + 1;
          queue.push_back(other);
        }
      }
    }
    for (const NodeId npu : all) {
      sum += distance[npu.index()] == kUnseen ? 0 : distance[npu.index()];
    }
  }
  return 1 + sum / (starts.size() * all.size());
}

/// One NPU's broadcast is planned, and proved; without dimensions all of them are replayed.
Costs symmetric_costs(const Sizes& sizes) {
  const UInt128 chunks = sizes.dealt_chunks() / sizes.participants;
  Costs costs{.bytes = 8 * sizes.links + 150 * sizes.npus * chunks * sizes.phases(),
              .nanoseconds = 40 * sizes.links * chunks * sizes.phases()};
  if (sizes.topology.dimensions().empty()) {
    const UInt128 transfers = sizes.npus * sizes.npus * chunks * sizes.phases();
    add_verification(sizes, transfers, sizes.npus * chunks, 40, costs);
  }
  return costs;
}

/// Whether trees carry chunks in rounds that are planned once: on direct links, and where a given
/// number of chunks can be dealt to some of them evenly.
bool in_rounds(const Sizes& sizes, std::uint64_t most_trees) {
  bool dealt = !sizes.problem.chunks;
  for (std::uint64_t trees = most_trees / 4; trees <= most_trees && !dealt; ++trees) {
    dealt = sizes.chunks % trees == 0;
  }
  return dealt && sizes.topology.num_switches() == 0;
}

/// Hops and trees, and one round of transfers or all of them.
Costs trees_costs(const Sizes& sizes) {
  constexpr std::uint64_t kMostTargets = 64;
  constexpr std::uint64_t kMostTrees = 32;
  const bool owned = traits(sizes.problem.kind).chunks_per == ChunksPer::kParticipant;
  const UInt128 chunks = owned ? sizes.chunks * sizes.participants : sizes.chunks;
  UInt128 hops = sizes.links;
  if (sizes.topology.num_switches() > 0) {
    hops *= std::min<UInt128>(sizes.npus, kMostTargets) / 2;
  }
  const UInt128 count = owned ? sizes.participants : std::min<UInt128>(chunks, kMostTrees);
  const UInt128 moved = in_rounds(sizes, kMostTrees) ? count : chunks;
  const UInt128 transfers = moved * (sizes.participants - 1) * sizes.phases();
  Costs costs{.bytes = 250 * hops + 200 * count * sizes.npus + (moved == count ? 0 : 5 * transfers),
              .nanoseconds = 100 * transfers + 1'000 * count * sizes.npus};
  add_verification(sizes, transfers, moved, 100, costs);
  return costs;
}

/// On direct links its own check knows what the logs take. Through switches and past others a
/// delivery looks at everybody, once for each of a dozen recipes.
Costs matching_costs(const Sizes& sizes) {
  const UInt128 chunks = sizes.dealt_chunks();
  const UInt128 deliveries = sizes.npus * chunks * sizes.phases();
  const bool direct = sizes.topology.num_switches() == 0 && sizes.participants == sizes.npus;
  Costs costs{.bytes = direct ? 0 : 150 * deliveries,
              .nanoseconds = direct ? 40 * deliveries : 200 * deliveries * sizes.npus};
  add_verification(sizes, deliveries, chunks, sizes.reduces() ? 80 : 30, costs);
  return costs;
}

/// Packing is cheap; the hops of all trees are scheduled in three orders.
Costs multicast_costs(const Sizes& sizes) {
  const UInt128 chunks = sizes.dealt_chunks();
  const UInt128 transfers = chunks * (sizes.participants - 1) * sizes.phases();
  Costs costs{.bytes = 200 * transfers, .nanoseconds = 2'000 * transfers};
  add_verification(sizes, transfers, chunks, sizes.reduces() ? 80 : 30, costs);
  return costs;
}

Costs routing_costs(const Sizes& sizes) {
  const bool all_to_all = traits(sizes.problem.kind).chunks_per == ChunksPer::kPair;
  const UInt128 messages =
      sizes.chunks * sizes.participants * (all_to_all ? sizes.participants : UInt128{1});
  const UInt128 hops = messages * average_way(sizes);
  Costs costs{.bytes = 40 * hops + 60 * messages, .nanoseconds = 700 * hops};
  add_verification(sizes, hops, messages, 30, costs);
  return costs;
}

/// A search that does not depend on chunks, then each of them over a few hops.
Costs exchange_costs(const Sizes& sizes) {
  constexpr std::uint64_t kSearch = 100'000'000;
  constexpr std::uint64_t kHops = 4;
  const bool pairs = traits(sizes.problem.kind).chunks_per == ChunksPer::kPair;
  const UInt128 chunks =
      pairs ? sizes.chunks * sizes.participants * sizes.participants : sizes.dealt_chunks();
  const UInt128 moves = chunks * sizes.phases() * kHops * (pairs ? UInt128{1} : sizes.participants);
  Costs costs{.bytes = 20 * sizes.npus * chunks + 20 * moves, .nanoseconds = kSearch + 50 * moves};
  add_verification(sizes, moves, chunks, sizes.reduces() ? 80 : 30, costs);
  return costs;
}

/// A search of the network for each chunk.
Costs custom_costs(const Sizes& sizes) {
  const UInt128 chunks = sizes.problem.custom->num_chunks();
  return {.bytes = 8 * sizes.npus * chunks, .nanoseconds = 30 * sizes.links * chunks};
}

std::uint64_t clamped(UInt128 value) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  return value > kMost ? kMost : static_cast<std::uint64_t>(value);
}

Need need(const Costs& costs) {
  constexpr std::uint64_t kPerSecond = 1'000'000'000;
  return {.bytes = clamped(costs.bytes), .seconds = clamped(costs.nanoseconds / kPerSecond)};
}

/// Messages between all pairs, routed and scheduled, and who waits for whom at every place.
Costs baseline_costs(const Sizes& sizes) {
  const bool pairs = traits(sizes.problem.kind).chunks_per == ChunksPer::kPair;
  const UInt128 chunks =
      pairs ? sizes.chunks * sizes.participants * sizes.participants : sizes.dealt_chunks();
  const UInt128 transfers = sizes.participants * sizes.participants * sizes.phases() *
                            std::max<UInt128>(1, chunks / sizes.participants);
  Costs costs{.bytes = 16 * sizes.participants * sizes.topology.num_nodes() +
                       8 * sizes.npus * chunks + 200 * transfers,
              .nanoseconds = 2'000 * transfers};
  add_verification(sizes, transfers, chunks, 100, costs);
  return costs;
}

}  // namespace

Need need_of_symmetric(const Topology& topology, const Problem& problem) {
  return need(symmetric_costs(Sizes(topology, problem)));
}

Need need_of_trees(const Topology& topology, const Problem& problem) {
  return need(trees_costs(Sizes(topology, problem)));
}

Need need_of_multicast(const Topology& topology, const Problem& problem) {
  return need(multicast_costs(Sizes(topology, problem)));
}

Need need_of_matching(const Topology& topology, const Problem& problem) {
  return need(matching_costs(Sizes(topology, problem)));
}

Need need_of_routing(const Topology& topology, const Problem& problem) {
  return need(routing_costs(Sizes(topology, problem)));
}

Need need_of_exchange(const Topology& topology, const Problem& problem) {
  return need(exchange_costs(Sizes(topology, problem)));
}

Need need_of_custom(const Topology& topology, const Problem& problem) {
  return need(custom_costs(Sizes(topology, problem)));
}

Need need_of_baseline(const Topology& topology, const Problem& problem) {
  return need(baseline_costs(Sizes(topology, problem)));
}

Status check_need(const Need& need,
                  std::string_view engine,
                  const Topology& topology,
                  const Problem& problem,
                  const EngineOptions& options) {
  constexpr std::uint64_t kHour = 3'600;
  if (problem.chunks.value_or(1) > kMostChunksEach) {
    return input_error(fmt::format("{} chunks are more than the {} supported; use fewer chunks",
                                   format_count(static_cast<std::uint64_t>(*problem.chunks)),
                                   format_count(kMostChunksEach)));
  }
  if (need.seconds > kMostHours * kHour) {
    return input_error(fmt::format("engine {} would take about {} hours, and more than {} are "
                                   "refused; use fewer chunks or a smaller network",
                                   engine,
                                   format_count(need.seconds / kHour),
                                   kMostHours),
                       topology.name());
  }
  // The bound comes after the schedule, but a schedule without one is not reported.
  const std::uint64_t bytes =
      std::max(need.bytes, memory_of_bounds(topology, effort_beside_schedule(topology)));
  Status fits = check_memory_room(bytes,
                                  options.memory_bytes,
                                  "fewer chunks, a smaller network, or more memory",
                                  topology.name());
  if (options.team == nullptr) {
    return fits;
  }
  const auto error =
      first_error(*options.team, fits ? std::nullopt : std::optional<Error>(fits.error()));
  return error ? Status(*error) : ok();
}

}  // namespace tacos
