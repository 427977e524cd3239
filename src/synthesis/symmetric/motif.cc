// SPDX-License-Identifier: MIT
// The number of chunks is searched where it is open, where ways differ in speed the backlog rule of
// broadcast.cc, and where that is not optimal the order in which ways choose; the lower limit of
// whole chunks into an NPU tells what is not worth trying.
//
// A Reduce-Scatter is a broadcast against the links, run backwards: a transfer of the broadcast
// from d to e along a link from e to d becomes one from e to d that ends as long before the end as
// the other started after the beginning. Where with every link there is one of equal cost the other
// way round, the broadcast against the links is the same as the one along them, and is planned
// once.
#include "synthesis/symmetric/motif.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/numbers/rng.h"
#include "base/numbers/wide.h"
#include "synthesis/common/deal.h"
#include "synthesis/common/engine.h"
#include "synthesis/symmetric/broadcast.h"

namespace tacos::symmetric {
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

/// The chunk counts that are worth a look, the first always.
std::vector<std::int64_t> chunk_counts(const Problem& problem) {
  const auto npus = static_cast<std::int64_t>(problem.participants.size());
  if (problem.chunks) {
    // All-Reduce rounds up to a multiple of the NPUs, since each reduces its part.
    return {traits(problem.kind).has_two_phases() ? (*problem.chunks + npus - 1) / npus
                                                  : *problem.chunks};
  }
  std::vector<std::int64_t> counts;
  for (const std::int64_t chunks : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}) {
    if (chunks == 1 || problem.size.count / npus >= chunks) {
      counts.push_back(chunks);
    }
  }
  return counts;
}

/// Who chooses first: axis by axis, or one way of each axis in turn, or at random.
std::vector<std::uint32_t> order_of(std::span<const Way> ways, std::uint32_t number) {
  std::vector<std::uint32_t> order(ways.size());
  std::iota(order.begin(), order.end(), 0U);
  if (number == 1) {
    std::vector<std::uint32_t> turn(ways.size(), 0);
    for (std::size_t w = 1; w < ways.size(); ++w) {
      turn[w] = ways[w].axis == ways[w - 1].axis ? turn[w - 1] + 1 : 0;
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

/// The fastest broadcast that was found, and for how many chunks of each NPU.
struct Found {
  Broadcast broadcast;
  std::int64_t chunks = 0;
};

/// Looks for the fastest broadcast along some ways.
class Search {
 public:
  Search(std::uint32_t npus, std::span<const Way> ways, Bytes size, LinkModel model)
      : npus_(npus), ways_(ways), size_(size), model_(model) {}

  /// Nothing when none takes less than `longest`.
  std::optional<Found> run(std::span<const std::int64_t> counts, Ticks longest) {
    longest_ = longest;
    bool hope = true;
    for (std::uint32_t order_number = 0; order_number < kOrders && hope; ++order_number) {
      // The first order may search four times as long as all others together.
      work_ = order_number == 0 ? 0 : order_number == 1 ? kWork / 4 * 3 : work_;
      hope = false;
      for (const std::int64_t chunks : counts) {
        hope |= attempt(chunks, order_number);
      }
    }
    return std::move(best_);
  }

 private:
  /// What the attempts of an order may cost before the last one, in probes of a way.
  static constexpr std::uint64_t kWork = std::uint64_t{1} << 20U;
  static constexpr std::uint32_t kOrders = 64;

  /// Keeps the broadcast of this many chunks if it is the fastest; whether there was hope.
  bool attempt(std::int64_t chunks, std::uint32_t order_number) {
    const ChunkTable table(size_, static_cast<std::uint32_t>(chunks * npus_));
    const std::vector<Server> costs = servers(ways_, table.max_bytes(), model_);
    const auto deliveries = (npus_ - std::uint64_t{1}) * static_cast<std::uint64_t>(chunks);
    const Ticks least = least_time(costs, deliveries);
    const bool one_speed = std::all_of(costs.begin(), costs.end(), [&](const Server& server) {
      return server.period == costs.front().period;
    });
    const std::vector<std::uint32_t> turns = order_of(ways_, order_number);
    BroadcastTask task{.elements = npus_,
                       .ways = ways_,
                       .servers = costs,
                       .chunks = static_cast<std::uint32_t>(chunks),
                       .order = turns};
    bool tried = false;
    for (const std::uint32_t quarters : {4U, 2U, 6U, 0U}) {
      const Ticks limit = best_ ? best_->broadcast.end : longest_;
      if (least >= limit || (best_ && work_ > kWork) || (one_speed && tried)) {
        break;
      }
      tried = true;
      task.backlog_quarters = quarters;
      Broadcast made = make_broadcast(task, limit);
      work_ += deliveries * costs.size();
      if (made.end < limit) {
        best_ = Found{.broadcast = std::move(made), .chunks = chunks};
      }
    }
    return tried;
  }

  std::uint32_t npus_;
  std::span<const Way> ways_;
  Bytes size_;
  LinkModel model_;
  Ticks longest_;
  std::uint64_t work_ = 0;
  std::optional<Found> best_;
};

/// Turns broadcasts into the steps of a motif.
class Planner {
 public:
  Planner(const Moves& moves, const ChunkTable& table, LinkModel model) : moves_(moves) {
    motif_.chunks_per_npu = table.count() / moves.npus;
    costs_ = servers(moves.ways, table.max_bytes(), model);
    measure(table, model);
  }

  void append_backwards(const Broadcast& broadcast) {
    for (const BroadcastEntry& entry : broadcast.entries) {
      append({.start = broadcast.end - entry.start - costs_[entry.server].duration,
              .op = Op::kReduce,
              .way = moves_.mates[entry.server],
              .from = entry.to,
              .to = entry.from,
              .chunk = entry.chunk});
    }
    std::reverse(motif_.steps.begin(), motif_.steps.end());
  }
  void append_forwards(const Broadcast& broadcast, Ticks delay) {
    motif_.steps.reserve(motif_.steps.size() + broadcast.entries.size());
    for (const BroadcastEntry& entry : broadcast.entries) {
      append({.start = entry.start + delay,
              .op = Op::kCopy,
              .way = entry.server,
              .from = entry.from,
              .to = entry.to,
              .chunk = entry.chunk});
    }
  }
  /// After the last arrival, until all servers are free.
  [[nodiscard]] Ticks settling() const {
    Ticks longest;
    for (const Server& server : costs_) {
      longest = std::max(longest, server.period - server.duration);
    }
    return longest;
  }
  [[nodiscard]] Motif take() { return std::move(motif_); }

 private:
  void append(const Step& step) {
    motif_.steps.push_back(step);
    motif_.end = std::max(motif_.end,
                          step.start + durations_[step.way * motif_.chunks_per_npu + step.chunk]);
  }

  /// By way and chunk of an owner, how long the longest transfer takes: chunks may differ by a
  /// byte, and those of one number may all be smaller.
  void measure(const ChunkTable& table, LinkModel model) {
    std::vector<Bytes> largest(motif_.chunks_per_npu);
    for (std::uint32_t chunk = 0; chunk < table.count(); ++chunk) {
      Bytes& most = largest[chunk % motif_.chunks_per_npu];
      most = std::max(most, table.bytes(ChunkId(chunk)));
    }
    const Bytes smaller{std::max<std::int64_t>(1, table.max_bytes().count - 1)};
    const std::vector<Server> faster = servers(moves_.ways, smaller, model);
    for (std::size_t way = 0; way < costs_.size(); ++way) {
      for (const Bytes most : largest) {
        durations_.push_back((most == table.max_bytes() ? costs_[way] : faster[way]).duration);
      }
    }
  }

  const Moves& moves_;
  std::vector<Server> costs_;
  std::vector<Ticks> durations_;
  Motif motif_;
};

}  // namespace

Result<Motif> make_motif(const Moves& moves, const Problem& problem, LinkModel link_model) {
  const bool gathers = traits(problem.kind).after == Holder::kEveryone;
  const bool scatters = traits(problem.kind).before == Holder::kEveryone;
  std::vector<std::int64_t> counts = chunk_counts(problem);
  // Says what is wrong with the first, which is the one that was asked for.
  if (const Result<Collective> first = decided_by_phases(problem, counts.front()); !first) {
    return first.error();
  }
  const Ticks longest{gathers && scatters ? kMaxTime.ps / 2 : kMaxTime.ps};
  const auto search = [&](std::span<const Way> ways) {
    return Search(moves.npus, ways, problem.size, link_model).run(counts, longest);
  };
  std::optional<Found> scattered = scatters ? search(moves.backwards()) : std::nullopt;
  if (scatters && !scattered) {
    return takes_too_long();
  }
  std::optional<Found> gathered;
  if (gathers && scatters) {
    counts = {scattered->chunks};
  }
  if (gathers) {
    gathered = scatters && moves.ways_back.empty() ? scattered : search(moves.ways);
  }
  if (gathers && !gathered) {
    return takes_too_long();
  }
  const std::int64_t chunks = scatters ? scattered->chunks : gathered->chunks;
  Planner planner(
      moves, ChunkTable(problem.size, static_cast<std::uint32_t>(chunks * moves.npus)), link_model);
  if (scatters) {
    planner.append_backwards(scattered->broadcast);
  }
  if (gathers) {
    planner.append_forwards(gathered->broadcast,
                            scatters ? scattered->broadcast.end + planner.settling() : Ticks{});
  }
  return planner.take();
}

}  // namespace tacos::symmetric
