// SPDX-License-Identifier: MIT
// Modulo scheduling (Rau 1981, known from software pipelining): time on every channel is cut into
// periods of equal length and each period into slots of one transfer. A lane that takes slot k in
// the round of the first chunk takes slot k of every later period for the later chunks, so only the
// first round is planned: lanes in the order in which they become ready, each in the first slot
// that no other lane of its channel has. O(lanes * log(lanes)) for any number of chunks, and
// writing the schedule is a walk through one sorted list per period.
#include "synthesis/trees/periodic.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

#include "base/assert.h"

namespace tacos::trees {
namespace {

class RoundPlanner {
 public:
  RoundPlanner(const Fabric& fabric,
               const Lanes& lanes,
               const ChannelCosts& costs,
               std::int64_t period)
      : lanes_(lanes),
        costs_(costs),
        tails_(lanes.tails(costs)),
        first_slot_(fabric.num_channels() + std::size_t{1}, 0),
        missing_(lanes.num_lanes(), 0),
        ready_(lanes.num_lanes(), 0) {
    plan_.period = period;
    plan_.start.assign(lanes.num_lanes(), 0);
    for (std::uint32_t channel = 0; channel < fabric.num_channels(); ++channel) {
      first_slot_[channel + 1] = first_slot_[channel] + slots(channel);
    }
    taken_.assign(first_slot_.back(), false);
  }

  PeriodicPlan run() {
    for (std::uint32_t lane = 0; lane < lanes_.num_lanes(); ++lane) {
      if (lanes_.goes_up(lane)) {
        missing_[lane] = static_cast<std::uint32_t>(lanes_.next(lane).size());
        if (missing_[lane] == 0) {
          push(lane, 0);
        }
      }
    }
    while (!queue_.empty()) {
      const std::uint32_t lane = std::get<2>(queue_.top());
      const std::int64_t ready = std::get<0>(queue_.top());
      queue_.pop();
      const std::uint32_t channel = lanes_.channel(lane);
      const std::int64_t start = take_slot(channel, ready);
      plan_.start[lane] = start;
      const std::int64_t end = start + costs_.arrival(channel);
      plan_.round_end = std::max(plan_.round_end, end);
      arrive(lane, end);
    }
    return std::move(plan_);
  }

 private:
  [[nodiscard]] std::uint64_t slots(std::uint32_t channel) const {
    return static_cast<std::uint64_t>(plan_.period / costs_.busy(channel));
  }
  void push(std::uint32_t lane, std::int64_t ready) { queue_.emplace(ready, -tails_[lane], lane); }

  /// The first free slot that starts no earlier than `ready`.
  std::int64_t take_slot(std::uint32_t channel, std::int64_t ready) {
    const std::int64_t busy = costs_.busy(channel);
    const auto count = static_cast<std::int64_t>(slots(channel));
    std::int64_t begin = ready / plan_.period * plan_.period;
    std::int64_t slot = (ready - begin + busy - 1) / busy;
    for (std::int64_t tried = 0; tried <= count; ++tried, ++slot) {
      if (slot >= count) {
        slot = 0;
        begin += plan_.period;
      }
      const std::size_t at = first_slot_[channel] + static_cast<std::uint64_t>(slot);
      if (!taken_[at]) {
        taken_[at] = true;
        return begin + slot * busy;
      }
    }
    TACOS_ASSERT(false, "a period has room for every lane");
    return 0;
  }

  void arrive(std::uint32_t lane, std::int64_t end) {
    if (!lanes_.goes_up(lane)) {
      for (const std::uint32_t down : lanes_.next(lane)) {
        push(down, end);
      }
      return;
    }
    const std::uint32_t above = lane - lanes_.node(lane) + lanes_.parent(lane);
    ready_[above] = std::max(ready_[above], end);
    if (--missing_[above] > 0) {
      return;
    }
    if (lanes_.channel(above) != kNone) {
      push(above, ready_[above]);
      return;
    }
    for (const std::uint32_t down : lanes_.next(lanes_.mirror(above))) {
      push(down, ready_[above]);
    }
  }

  const Lanes& lanes_;
  const ChannelCosts& costs_;
  std::vector<std::int64_t> tails_;
  PeriodicPlan plan_;
  std::vector<std::size_t> first_slot_;
  std::vector<bool> taken_;
  std::vector<std::uint32_t> missing_;
  std::vector<std::int64_t> ready_;
  using Ready = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> queue_;
};

}  // namespace

PeriodicPlan plan_round(const Fabric& fabric,
                        const Lanes& lanes,
                        const ChannelCosts& costs,
                        std::int64_t period) {
  return RoundPlanner(fabric, lanes, costs, period).run();
}

void record_rounds(const PeriodicPlan& plan,
                   const Fabric& fabric,
                   const Lanes& lanes,
                   const ChannelCosts& costs,
                   const ChunkTable& chunks,
                   ScheduleBuilder& builder) {
  struct Repeated {
    std::int64_t phase = 0;
    std::int64_t arrival = 0;
    std::uint32_t lane = 0;
    std::uint32_t channel = 0;
    std::int32_t shift = 0;
  };
  std::vector<Repeated> order;
  std::int64_t last_shift = 0;
  for (std::uint32_t lane = 0; lane < lanes.num_lanes(); ++lane) {
    if (const std::uint32_t channel = lanes.channel(lane); channel != kNone) {
      const std::int64_t shift = plan.start[lane] / plan.period;
      last_shift = std::max(last_shift, shift);
      order.push_back({.phase = plan.start[lane] - shift * plan.period,
                       .arrival = costs.arrival(channel),
                       .lane = lane,
                       .channel = channel,
                       .shift = static_cast<std::int32_t>(shift)});
    }
  }
  std::sort(order.begin(), order.end(), [](const Repeated& a, const Repeated& b) {
    return std::tie(a.phase, a.channel) < std::tie(b.phase, b.channel);
  });
  const std::uint32_t trees = lanes.num_trees();
  const std::int64_t rounds = (chunks.count() + trees - 1) / trees;
  for (std::int64_t at = 0; at < rounds + last_shift; ++at) {
    for (const Repeated& one : order) {
      const std::int64_t round = at - one.shift;
      const std::int64_t chunk = round * trees + lanes.tree(one.lane);
      if (round < 0 || chunk >= chunks.count()) {
        continue;
      }
      const ChunkId id(static_cast<std::uint32_t>(chunk));
      const Ticks start{at * plan.period + one.phase};
      const std::int64_t arrival = chunks.bytes(id) == costs.bytes()
                                       ? one.arrival
                                       : costs.smaller_arrival(one.channel);
      builder.append(start,
                     lanes.goes_up(one.lane) ? Op::kReduce : Op::kCopy,
                     fabric.link(one.channel),
                     id,
                     start + Ticks{arrival});
    }
  }
}

}  // namespace tacos::trees
