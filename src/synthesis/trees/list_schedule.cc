// SPDX-License-Identifier: MIT
// An event simulation whose state is per lane, not per chunk and node: how many chunks are ready to
// enter the lane, have entered it, have left it. A channel keeps a heap of its lanes that have
// something ready, by urgency of the next chunk.
//
// Transfers that last equally long end in the order in which they began, so the events are one
// first-in-first-out list per distinct duration, and a heap of those lists: on uniform networks an
// event costs O(1). In all O(transfers * log(lanes per channel * durations)).
//
// All arrivals of an instant are applied before anything starts in it, and what starts in it is
// decided channel by channel in ascending order, so the result depends on nothing else.
#include "synthesis/trees/list_schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.h"
#include "synthesis/trees/events.h"

namespace tacos::trees {
namespace {

/// Durations of transfers of 1.. chunks per channel, numbered.
class Durations {
 public:
  struct Times {
    std::int64_t busy = 0;
    std::int64_t arrival = 0;
    std::uint32_t busy_number = 0;
    std::uint32_t arrival_number = 0;
  };

  explicit Durations(const ListProblem& problem) : most_(problem.grouping.most()) {
    const std::uint32_t channels = problem.fabric.num_channels();
    times_.resize(std::size_t{channels} * most_);
    for (std::uint32_t channel = 0; channel < channels; ++channel) {
      for (std::uint32_t count = 1; count <= problem.grouping.of(channel); ++count) {
        const LinkCost cost = problem.costs.of(channel, count);
        times_[std::size_t{channel} * most_ + count - 1] = {cost.busy.ps, cost.arrival.ps, 0, 0};
        distinct_.push_back(cost.busy.ps);
        distinct_.push_back(cost.arrival.ps);
      }
    }
    std::sort(distinct_.begin(), distinct_.end());
    distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
    for (Times& times : times_) {
      times.busy_number = number(times.busy);
      times.arrival_number = number(times.arrival);
    }
  }
  [[nodiscard]] std::size_t count() const { return distinct_.size(); }
  [[nodiscard]] const Times& of(std::uint32_t channel, std::uint32_t chunks) const {
    return times_[std::size_t{channel} * most_ + chunks - 1];
  }

 private:
  [[nodiscard]] std::uint32_t number(std::int64_t time) const {
    return static_cast<std::uint32_t>(std::lower_bound(distinct_.begin(), distinct_.end(), time) -
                                      distinct_.begin());
  }

  std::uint32_t most_;
  std::vector<Times> times_;
  std::vector<std::int64_t> distinct_;
};

class ListScheduler {
 public:
  ListScheduler(const ListProblem& problem, const Urgency& urgency, const ListOutput& output);
  std::int64_t run();

 private:
  struct Sent {
    std::uint32_t lane = 0;
    std::uint32_t round = 0;
  };
  struct LaneInfo {
    std::uint32_t channel = 0;
    /// kNone for a down lane.
    std::uint32_t gate = kNone;
    /// An up lane's place among those that its gate waits for; a down lane's first next lane.
    std::uint32_t first = 0;
    std::uint32_t num_next = 0;
    [[nodiscard]] bool goes_up() const { return gate != kNone; }
  };
  /// What changes about a lane: the urgency of its next chunk, how many wait, how many have gone.
  struct LaneState {
    std::int64_t urgency = 0;
    std::uint32_t waiting = 0;
    std::uint32_t sent = 0;
  };
  /// A lane as others refer to it, with what they need to know about it.
  struct LaneRef {
    std::uint32_t lane = kNone;
    std::uint32_t channel = kNone;
  };
  /// Rounds for which everything has come, and how many lanes lack the next one.
  struct GateState {
    std::uint32_t rounds = 0;
    std::uint32_t missing = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    LaneRef opens;
  };
  struct ChannelState {
    std::int64_t free_at = 0;
    std::uint32_t first = 0;
    std::uint32_t num_ready = 0;
    bool touched = false;
  };

  void send(ChannelState& channel, std::uint32_t place);
  [[nodiscard]] std::uint32_t most_urgent(const ChannelState& channel) const;
  enum class Direction { kUp, kDown };
  void offer(LaneRef lane, Direction direction, std::uint32_t count);
  void touch(std::uint32_t channel, ChannelState& state) {
    if (!state.touched) {
      state.touched = true;
      touched_.push_back(channel);
    }
  }
  void arrive(std::uint32_t lane);
  void open(std::uint32_t gate);
  void start(std::uint32_t channel);
  void start_touched();
  void apply_happened();
  void record(std::uint32_t channel, Op op);

  const ListProblem& problem_;
  const Lanes& lanes_;
  const Urgency& urgency_;
  const ListOutput& output_;
  Durations durations_;
  EventLists events_;
  bool hold_;
  std::int64_t now_ = 0;
  std::int64_t end_ = 0;
  std::vector<LaneInfo> info_;
  std::vector<LaneState> lane_;
  std::vector<GateState> gate_;
  /// Per gate, how many chunks have come from each lane that it waits for.
  std::vector<std::uint32_t> arrived_;
  std::vector<LaneRef> next_;
  /// Per channel, where its lanes would lie: those of them in which something waits, with kDown.
  std::vector<std::uint32_t> ready_;
  std::vector<ChannelState> channel_;
  std::vector<std::uint32_t> touched_;
  std::vector<std::uint32_t> happened_;
  // The transfer that is being started.
  std::vector<Sent> group_;
  std::vector<ChunkId> chunks_;
};

/// Events that are not an arrival in a lane say that a channel is free.
constexpr std::uint32_t kFreed = 1U << 31U;
/// Added to the number of a ready lane that goes down.
constexpr std::uint32_t kDown = 1U << 31U;

ListScheduler::ListScheduler(const ListProblem& problem,
                             const Urgency& urgency,
                             const ListOutput& output)
    : problem_(problem),
      lanes_(problem.lanes),
      urgency_(urgency),
      output_(output),
      durations_(problem),
      events_(durations_.count()),
      hold_(problem.costs.model() == LinkModel::kHold),
      info_(lanes_.num_lanes()),
      lane_(lanes_.num_lanes()),
      gate_(lanes_.num_gates()),
      arrived_(lanes_.all_waits().size(), 0),
      ready_(lanes_.num_lanes()),
      channel_(problem.fabric.num_channels()) {
  TACOS_ASSERT(lanes_.num_lanes() < kFreed, "lane numbers leave a bit for events");
  for (const std::uint32_t lane : lanes_.all_next()) {
    next_.push_back({lane, lanes_.channel(lane)});
  }
  for (std::uint32_t lane = 0; lane < lanes_.num_lanes(); ++lane) {
    const auto next = lanes_.next(lane);
    lane_[lane].urgency =
        urgency.table != nullptr ? urgency.table->at(lane, 0) : urgency.base[lane];
    info_[lane] = {.channel = lanes_.channel(lane),
                   .gate = lanes_.into(lane),
                   .first = static_cast<std::uint32_t>(next.data() - lanes_.all_next().data()),
                   .num_next = static_cast<std::uint32_t>(next.size())};
  }
  for (std::uint32_t gate = 0; gate < lanes_.num_gates(); ++gate) {
    const auto waits = lanes_.waits_for(gate);
    GateState& state = gate_[gate];
    state.missing = static_cast<std::uint32_t>(waits.size());
    state.first = static_cast<std::uint32_t>(waits.data() - lanes_.all_waits().data());
    state.last = state.first + state.missing;
    if (const std::uint32_t up = lanes_.opens(gate); up != kNone) {
      state.opens = {up, lanes_.channel(up)};
    }
    for (std::uint32_t i = 0; i < waits.size(); ++i) {
      info_[waits[i]].first = state.first + i;
    }
  }
  for (std::uint32_t channel = 0; channel < channel_.size(); ++channel) {
    channel_[channel].first = lanes_.first_lane(channel);
  }
}

/// Where among the channel's ready lanes the most urgent is; the lower lane when two are equal.
std::uint32_t ListScheduler::most_urgent(const ChannelState& channel) const {
  const std::uint32_t* const ready = &ready_[channel.first];
  std::uint32_t best = 0;
  std::int64_t urgency = lane_[ready[0] & ~kDown].urgency;
  for (std::uint32_t i = 1; i < channel.num_ready; ++i) {
    const std::int64_t other = lane_[ready[i] & ~kDown].urgency;
    if (other < urgency || (other == urgency && (ready[i] & ~kDown) < (ready[best] & ~kDown))) {
      best = i;
      urgency = other;
    }
  }
  return best;
}

/// Takes one chunk from a ready lane.
void ListScheduler::send(ChannelState& channel, std::uint32_t place) {
  std::uint32_t* const ready = &ready_[channel.first];
  const std::uint32_t lane = ready[place] & ~kDown;
  LaneState& state = lane_[lane];
  group_.push_back({lane, state.sent++});
  if (urgency_.table == nullptr) {
    state.urgency += urgency_.step;
  } else if (state.sent < urgency_.table->rounds()) {
    state.urgency = urgency_.table->at(lane, state.sent);
  }
  if (--state.waiting == 0) {
    ready[place] = ready[--channel.num_ready];
  }
}

/// `count` more chunks may enter the lane.
void ListScheduler::offer(LaneRef lane, Direction direction, std::uint32_t count) {
  LaneState& state = lane_[lane.lane];
  if (state.waiting == 0 && count > 0) {
    ChannelState& channel = channel_[lane.channel];
    ready_[channel.first + channel.num_ready++] =
        direction == Direction::kUp ? lane.lane : lane.lane | kDown;
    touch(lane.channel, channel);
  }
  state.waiting += count;
}

/// Everything that the gate waits for has arrived for one more round.
void ListScheduler::open(std::uint32_t gate) {
  GateState& state = gate_[gate];
  ++state.rounds;
  for (std::uint32_t i = state.first; i < state.last; ++i) {
    state.missing += arrived_[i] <= state.rounds ? 1 : 0;
  }
  if (state.opens.lane != kNone) {
    offer(state.opens, Direction::kUp, 1);
    return;
  }
  for (const std::uint32_t down : lanes_.opened_by_root(lanes_.tree_of_gate(gate))) {
    offer({down, lanes_.channel(down)}, Direction::kDown, 1);
  }
}

void ListScheduler::arrive(std::uint32_t lane) {
  const LaneInfo& state = info_[lane];
  if (!state.goes_up()) {
    for (std::uint32_t i = state.first; i < state.first + state.num_next; ++i) {
      offer(next_[i], Direction::kDown, 1);
    }
    return;
  }
  GateState& gate = gate_[state.gate];
  const std::uint32_t round = arrived_[state.first]++;
  if (gate.rounds == round && --gate.missing == 0) {
    // Some may have run ahead, so that later rounds are complete as well.
    while (gate.missing == 0) {
      open(state.gate);
    }
  }
}

void ListScheduler::record(std::uint32_t channel, Op op) {
  chunks_.clear();
  for (const Sent& sent : group_) {
    chunks_.emplace_back(sent.round * lanes_.num_trees() + lanes_.tree(sent.lane));
  }
  std::sort(chunks_.begin(), chunks_.end());
  std::int64_t bytes = 0;
  for (const ChunkId chunk : chunks_) {
    bytes += output_.chunks->bytes(chunk).count;
  }
  const LinkId link = problem_.fabric.link(channel);
  const Ticks start{now_};
  const LinkCost cost = link_cost(output_.topology->link(link), {bytes}, problem_.costs.model());
  output_.builder->append({.start = start, .op = op, .links = {&link, 1}, .chunks = chunks_},
                          start + cost.arrival);
}

/// Sends the most urgent chunk, and with it as many more of the same kind as the channel may.
void ListScheduler::start(std::uint32_t channel) {
  ChannelState& state = channel_[channel];
  state.touched = false;
  if (state.free_at > now_ || state.num_ready == 0) {
    return;
  }
  const std::uint32_t limit = problem_.grouping.of(channel);
  group_.clear();
  std::uint32_t place = most_urgent(state);
  const bool up = (ready_[state.first + place] & kDown) == 0;
  send(state, place);
  while (group_.size() < limit && state.num_ready > 0) {
    place = most_urgent(state);
    if (((ready_[state.first + place] & kDown) == 0) != up) {
      break;
    }
    send(state, place);
  }
  const Durations::Times& times = durations_.of(channel, static_cast<std::uint32_t>(group_.size()));
  state.free_at = now_ + times.busy;
  for (const Sent& sent : group_) {
    events_.push(times.arrival_number, now_ + times.arrival, sent.lane);
    if (output_.ends != nullptr) {
      output_.ends->at(sent.lane, sent.round) = now_ + times.arrival;
    }
  }
  if (!hold_) {
    events_.push(times.busy_number, now_ + times.busy, kFreed | channel);
  }
  end_ = std::max(end_, now_ + times.arrival);
  if (output_.builder != nullptr) {
    record(channel, up ? Op::kReduce : Op::kCopy);
  }
}

/// Memory is fetched this many entries ahead of its use, in as many steps as it has indirections.
constexpr std::size_t kAhead = 8;

void ListScheduler::start_touched() {
  if (output_.builder != nullptr) {
    std::sort(touched_.begin(), touched_.end());
  }
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    if (i + 2 * kAhead < touched_.size()) {
      __builtin_prefetch(&channel_[touched_[i + 2 * kAhead]]);
      const std::uint32_t first = channel_[touched_[i + kAhead]].first;
      __builtin_prefetch(&ready_[first]);
      __builtin_prefetch(&lane_[first]);
    }
    start(touched_[i]);
  }
  touched_.clear();
}

void ListScheduler::apply_happened() {
  for (std::size_t i = 0; i < happened_.size(); ++i) {
    if (i + 2 * kAhead < happened_.size()) {
      __builtin_prefetch(&info_[happened_[i + 2 * kAhead] & ~kFreed]);
      const LaneInfo& soon = info_[happened_[i + kAhead] & ~kFreed];
      __builtin_prefetch(soon.goes_up() ? static_cast<const void*>(&gate_[soon.gate])
                                        : static_cast<const void*>(&next_[soon.first]));
    }
    const std::uint32_t what = happened_[i];
    const std::uint32_t channel = (what & kFreed) != 0 ? what & ~kFreed : info_[what].channel;
    touch(channel, channel_[channel]);
    if ((what & kFreed) == 0) {
      arrive(what);
    }
  }
}

std::int64_t ListScheduler::run() {
  for (std::uint32_t gate = 0; gate < lanes_.num_gates(); ++gate) {
    if (gate_[gate].missing == 0) {
      offer(gate_[gate].opens,
            Direction::kUp,
            rounds_of(lanes_.tree_of_gate(gate), lanes_.num_trees(), problem_.num_chunks));
    }
  }
  for (;;) {
    start_touched();
    if (events_.empty()) {
      return end_;
    }
    now_ = events_.next_time();
    happened_.clear();
    events_.take(happened_);
    apply_happened();
  }
}

}  // namespace

LaneTable::LaneTable(const Lanes& lanes, std::uint32_t num_chunks)
    : rounds_((num_chunks + lanes.num_trees() - 1) / lanes.num_trees()),
      values_(std::size_t{lanes.num_lanes()} * rounds_, 0) {}

std::uint32_t Grouping::most() const {
  return limit.empty() ? 1 : *std::max_element(limit.begin(), limit.end());
}

std::int64_t list_schedule(const ListProblem& problem,
                           const Urgency& urgency,
                           const ListOutput& output) {
  return ListScheduler(problem, urgency, output).run();
}

}  // namespace tacos::trees
