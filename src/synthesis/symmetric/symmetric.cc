// SPDX-License-Identifier: MIT
// A product of rings, fully-connected and switch dimensions looks the same from every NPU: it is a
// Cayley graph of the group that adds coordinates modulo the lengths. So one NPU's broadcast, moved
// to every other NPU, is an All-Gather. Let the broadcast send at most one chunk at a time with
// each generator (one way round a ring, one shift of a fully-connected dimension, one port of a
// switch, for which all NPUs use the same shift at a time: a permutation). Then no link is used
// twice: the translates of one transfer all use different links of that generator [THEORY 4.2].
// Instead of N^2 deliveries N are planned, and the schedule is stored as they are: a pattern.
//
// Reduce-Scatter is the broadcast run backwards: all transfers of a generator take equal time, and
// with every generator its inverse is there at the same cost, so the mirror image keeps links
// apart exactly as the original does. All-Reduce is both, one after the other.
//
// The number of chunks is searched where it is open, where dimensions differ in speed the backlog
// rule of broadcast.cc, and where that is not optimal the order in which generators choose; the
// lower limit of whole chunks into an NPU tells what is not worth trying. O(chunks x NPUs x
// generators) for each attempt, whatever the number of deliveries.
//
// Known limit: every chunk has a transfer of its own. For small messages on small networks the
// matching engine lets chunks share transfers, and `auto` takes the better.
#include "synthesis/symmetric/symmetric.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/mixed_radix.h"
#include "base/rng.h"
#include "base/wide.h"
#include "schedule/pattern.h"
#include "synthesis/symmetric/broadcast.h"
#include "synthesis/symmetric/product_moves.h"

namespace tacos {
namespace {

/// No broadcast is faster: by `time` each server has delivered only so many chunks.
bool may_be_done(std::span<const Server> servers, Ticks time, std::uint64_t deliveries) {
  Int128 carried = 0;
  for (const Server& server : servers) {
    if (time >= server.duration) {
      carried += 1 + (time - server.duration).ps / server.period.ps;
    }
  }
  return carried >= static_cast<Int128>(deliveries);
}

/// The smallest time at which may_be_done, or kMaxTime.
Ticks least_time(std::span<const Server> servers, std::uint64_t deliveries) {
  Ticks low;
  Ticks high = kMaxTime;
  while (high.ps - low.ps > 1) {
    const Ticks middle{low.ps + (high.ps - low.ps) / 2};
    (may_be_done(servers, middle, deliveries) ? high : low) = middle;
  }
  return high;
}

class Search {
 public:
  Search(const Topology& topology, const Problem& problem, const SynthesisOptions& options)
      : topology_(topology),
        problem_(problem),
        options_(options),
        moves_(topology.dimensions()),
        group_(moves_.lengths()) {}

  Result<Candidate> run() {
    const std::vector<std::int64_t> counts = chunk_counts();
    // Says what is wrong with the first, which is the one that was asked for.
    if (const Result<Collective> first = collective(counts.front()); !first) {
      return first.error();
    }
    bool hope = true;
    for (std::uint32_t order_number = 0; order_number < kOrders && hope; ++order_number) {
      // The first order may search four times as long as all others together.
      work_ = order_number == 0 ? 0 : order_number == 1 ? kWork / 4 * 3 : work_;
      hope = false;
      for (const std::int64_t chunks : counts) {
        hope |= attempt(chunks, order_number);
      }
    }
    if (!best_) {
      return input_error(
          "the collective would take longer than 53 days; use a smaller size or faster links",
          topology_.name());
    }
    const Result<Collective> decided = collective(best_chunks_);
    return decided ? Result(Candidate{*decided, schedule(decided->chunks()), 1})
                   : Result<Candidate>(decided.error());
  }

 private:
  /// What the attempts of an order may cost before the last one, in probes of a server.
  static constexpr std::uint64_t kWork = std::uint64_t{1} << 20U;
  static constexpr std::uint32_t kOrders = 64;

  [[nodiscard]] bool over_buffer() const { return problem_.kind == CollectiveKind::kAllReduce; }

  /// The chunk counts that are worth a look, the first always.
  [[nodiscard]] std::vector<std::int64_t> chunk_counts() const {
    if (problem_.chunks) {
      // All-Reduce rounds up to a multiple of the NPUs, since each reduces its share.
      return {over_buffer() ? (*problem_.chunks + group_.size() - 1) / group_.size()
                            : *problem_.chunks};
    }
    std::vector<std::int64_t> counts;
    for (const std::int64_t chunks : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
      if (chunks == 1 || problem_.size.count / group_.size() >= chunks) {
        counts.push_back(chunks);
      }
    }
    return counts;
  }

  /// Who chooses first: dimension by dimension, or one server of each dimension in turn, or at
  /// random.
  [[nodiscard]] static std::vector<std::uint32_t> order(std::span<const Server> servers,
                                                        std::uint32_t number) {
    std::vector<std::uint32_t> order(servers.size());
    std::iota(order.begin(), order.end(), 0U);
    if (number == 1) {
      std::vector<std::uint32_t> turn(servers.size(), 0);
      for (std::size_t s = 1; s < servers.size(); ++s) {
        turn[s] = servers[s].axis == servers[s - 1].axis ? turn[s - 1] + 1 : 0;
      }
      std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return turn[a] < turn[b];
      });
    } else if (number > 1) {
      Rng rng(number);
      for (auto left = static_cast<std::uint32_t>(order.size()); left > 1; --left) {
        std::swap(order[left - 1], order[rng.below(left)]);
      }
    }
    return order;
  }

  [[nodiscard]] Result<Collective> collective(std::int64_t chunks) const {
    return Collective::make(problem_.kind,
                            problem_.size,
                            over_buffer() ? chunks * group_.size() : chunks,
                            problem_.participants);
  }

  /// Keeps the broadcast of this many chunks if it is the fastest; whether there was hope.
  bool attempt(std::int64_t chunks, std::uint32_t order_number) {
    const ChunkTable table(problem_.size, static_cast<std::uint32_t>(chunks * group_.size()));
    const std::vector<Server> servers = moves_.servers(table.max_bytes(), options_.link_model);
    const auto deliveries = (group_.size() - std::uint64_t{1}) * static_cast<std::uint64_t>(chunks);
    const Ticks least = least_time(servers, deliveries);
    const bool one_speed = std::all_of(servers.begin(), servers.end(), [&](const Server& server) {
      return server.period == servers.front().period;
    });
    const std::vector<std::uint32_t> turns = order(servers, order_number);
    BroadcastTask task{.lengths = moves_.lengths(),
                       .servers = servers,
                       .chunks = static_cast<std::uint32_t>(chunks),
                       .order = turns};
    bool tried = false;
    for (const std::uint32_t quarters : {4U, 2U, 6U, 0U}) {
      const Ticks limit = best_ ? best_->end : longest_;
      if (least >= limit || (best_ && work_ > kWork) || (one_speed && tried)) {
        break;
      }
      tried = true;
      task.backlog_quarters = quarters;
      Broadcast made = make_broadcast(task, limit);
      work_ += deliveries * servers.size();
      if (made.end < limit) {
        best_ = std::move(made);
        best_chunks_ = chunks;
        servers_ = servers;
      }
    }
    return tried;
  }

  [[nodiscard]] Schedule schedule(const ChunkTable& table) const {
    Pattern pattern = moves_.frame();
    pattern.chunks_per_npu = table.count() / group_.size();
    const std::vector<Ticks> longest = longest_durations(table);
    Ticks latest;
    if (problem_.kind != CollectiveKind::kAllGather) {
      append_backwards(longest, pattern, latest);
      sort(pattern, 0);
    }
    if (problem_.kind != CollectiveKind::kReduceScatter) {
      const std::size_t scattered = pattern.entries.size();
      append_forwards(scattered == 0 ? Ticks{} : best_->end, longest, pattern, latest);
      sort(pattern, scattered);
    }
    return make_pattern_schedule(std::move(pattern), latest);
  }

  /// The move from one element to another along the server's dimension.
  [[nodiscard]] std::uint32_t move(const BroadcastEntry& entry, bool backwards) const {
    const std::uint32_t axis = servers_[entry.server].axis;
    const std::uint32_t from = group_.digit(backwards ? entry.to : entry.from, axis);
    const std::uint32_t to = group_.digit(backwards ? entry.from : entry.to, axis);
    const std::uint32_t length = group_.lengths()[axis];
    return moves_.move(axis, to > from ? to - from : to + length - from);
  }

  void append_forwards(Ticks delay,
                       std::span<const Ticks> longest,
                       Pattern& pattern,
                       Ticks& latest) const {
    for (const BroadcastEntry& entry : best_->entries) {
      const Ticks start = entry.start + delay;
      pattern.entries.push_back({.start = start,
                                 .op = Op::kCopy,
                                 .move = move(entry, false),
                                 .from = entry.from,
                                 .chunk = entry.chunk});
      latest =
          std::max(latest, start + longest[entry.server * pattern.chunks_per_npu + entry.chunk]);
    }
  }

  void append_backwards(std::span<const Ticks> longest, Pattern& pattern, Ticks& latest) const {
    for (const BroadcastEntry& entry : best_->entries) {
      const Ticks start = best_->end - entry.start - servers_[entry.server].duration;
      pattern.entries.push_back({.start = start,
                                 .op = Op::kReduce,
                                 .move = move(entry, true),
                                 .from = entry.to,
                                 .chunk = entry.chunk});
      latest =
          std::max(latest, start + longest[entry.server * pattern.chunks_per_npu + entry.chunk]);
    }
    std::reverse(pattern.entries.begin(), pattern.entries.end());
  }

  /// In order of start, then slot, from the entry `first` on.
  static void sort(Pattern& pattern, std::size_t first) {
    const auto before = [&](const PatternEntry& a, const PatternEntry& b) {
      return std::tuple(a.start, pattern.moves[a.move].slot) <
             std::tuple(b.start, pattern.moves[b.move].slot);
    };
    const auto begin = pattern.entries.begin() + static_cast<std::ptrdiff_t>(first);
    if (!std::is_sorted(begin, pattern.entries.end(), before)) {
      std::sort(begin, pattern.entries.end(), before);
    }
  }

  /// By server and chunk of an owner, how long the longest transfer takes: chunks may differ by a
  /// byte, and those of one number may all be smaller.
  [[nodiscard]] std::vector<Ticks> longest_durations(const ChunkTable& table) const {
    const std::uint32_t chunks = table.count() / group_.size();
    std::vector<Bytes> largest(chunks);
    for (std::uint32_t chunk = 0; chunk < table.count(); ++chunk) {
      Bytes& most = largest[chunk % chunks];
      most = std::max(most, table.bytes(ChunkId(chunk)));
    }
    const Bytes smaller{std::max<std::int64_t>(1, table.max_bytes().count - 1)};
    const std::vector<Server> faster = moves_.servers(smaller, options_.link_model);
    std::vector<Ticks> durations;
    for (std::size_t s = 0; s < servers_.size(); ++s) {
      for (const Bytes most : largest) {
        durations.push_back(most == table.max_bytes() ? servers_[s].duration : faster[s].duration);
      }
    }
    return durations;
  }

  const Topology& topology_;
  const Problem& problem_;
  const SynthesisOptions& options_;
  ProductMoves moves_;
  MixedRadix group_;
  /// All-Reduce is two broadcasts.
  Ticks longest_{over_buffer() ? kMaxTime.ps / 2 : kMaxTime.ps};
  std::uint64_t work_ = 0;
  std::optional<Broadcast> best_;
  std::int64_t best_chunks_ = 0;
  std::vector<Server> servers_;
};

}  // namespace

bool is_symmetric(const Topology& topology, const Problem& problem) {
  const bool known = problem.kind == CollectiveKind::kAllGather ||
                     problem.kind == CollectiveKind::kReduceScatter ||
                     problem.kind == CollectiveKind::kAllReduce;
  return known && problem.participants.size() == topology.num_npus() &&
         is_translation_symmetric(topology);
}

Result<Candidate> synthesize_symmetric(const Topology& topology,
                                       const Problem& problem,
                                       const SynthesisOptions& options) {
  if (!is_symmetric(topology, problem)) {
    return input_error(
        fmt::format(
            "the engine 'symmetric' makes all-gather, reduce-scatter and all-reduce of all "
            "NPUs on rings, tori, hypercubes, fully-connected and switch networks and their "
            "products; this is {}",
            to_string(problem.kind)),
        topology.name());
  }
  return Search(topology, problem, options).run();
}

}  // namespace tacos
