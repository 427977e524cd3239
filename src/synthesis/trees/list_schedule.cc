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
#include "synthesis/trees/durations.h"
#include "synthesis/trees/events.h"

namespace tacos::trees {
namespace {

class ListScheduler {
 public:
  ListScheduler(const ListProblem& problem, const Urgency& urgency, const ListOutput& output);
  std::int64_t run();

 private:
  struct Sent {
    std::uint32_t lane = 0;
    std::uint32_t round = 0;
  };
  struct Started {
    std::uint32_t channel = 0;
    Op op = Op::kCopy;
    std::uint32_t first_chunk = 0;
    std::uint32_t num_chunks = 0;
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
  [[nodiscard]] std::uint32_t most_urgent(std::uint32_t number, const ChannelState& channel) const;
  void start_meeting(std::uint32_t channel, std::uint32_t place);
  void launch(std::uint32_t channel, Op op);
  void flush_records();
  void offer(LaneRef lane, std::uint32_t mark, std::uint32_t count);
  void meet(std::uint32_t tree);
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
  void prefetch(std::uint32_t what, int steps) const;
  void apply_happened();

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
  /// Per tree, for how many rounds both ends of its meeting have been ready.
  std::vector<std::uint32_t> met_;
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
  // Those of this instant, to be recorded.
  std::vector<Started> started_;
  std::vector<ChunkId> chunks_;
};

/// Events that are not an arrival in a lane say that a channel is free.
constexpr std::uint32_t kFreed = 1U << 31U;
/// Added to the number of a ready lane that goes down, or that is half of a meeting.
constexpr std::uint32_t kDown = 1U << 31U;
constexpr std::uint32_t kMeets = 1U << 30U;
constexpr std::uint32_t kLane = kMeets - 1;
/// In place of the lane that a gate opens.
constexpr std::uint32_t kMeeting = kNone - 1;

ListScheduler::ListScheduler(const ListProblem& problem,
                             const Urgency& urgency,
                             const ListOutput& output)
    : problem_(problem),
      lanes_(problem.lanes),
      urgency_(urgency),
      output_(output),
      durations_(problem.fabric.num_channels(), problem.costs, problem.grouping),
      events_(durations_.count()),
      hold_(problem.costs.model() == LinkModel::kHold),
      info_(lanes_.num_lanes()),
      lane_(lanes_.num_lanes()),
      gate_(lanes_.num_gates()),
      met_(lanes_.meetings().size(), 0),
      arrived_(lanes_.all_waits().size(), 0),
      ready_(lanes_.num_lanes()),
      channel_(problem.fabric.num_channels()) {
  TACOS_ASSERT(lanes_.num_lanes() < kLane, "lane numbers leave bits for marks");
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
  for (std::uint32_t tree = 0; tree < lanes_.meetings().size(); ++tree) {
    const Lanes::Meeting& meeting = lanes_.meetings()[tree];
    gate_[meeting.root_gate].opens.lane = kMeeting;
    gate_[meeting.partner_gate].opens.lane = kMeeting;
    // What the root's half brings is the whole sum: on with it, as when it goes down.
    const auto next = lanes_.opened_by_root(tree);
    info_[meeting.up].first = static_cast<std::uint32_t>(next.data() - lanes_.all_next().data());
    info_[meeting.up].num_next = static_cast<std::uint32_t>(next.size());
  }
  for (std::uint32_t channel = 0; channel < channel_.size(); ++channel) {
    channel_[channel].first = lanes_.first_lane(channel);
  }
}

/// Where among the channel's ready lanes the most urgent is that may start now, the lower lane when
/// two are equal; kNone when none may.
std::uint32_t ListScheduler::most_urgent(std::uint32_t number, const ChannelState& channel) const {
  const std::uint32_t* const ready = &ready_[channel.first];
  const bool alone = !met_.empty() && channel_[problem_.fabric.twin(number)].free_at > now_;
  std::uint32_t best = kNone;
  std::int64_t urgency = 0;
  for (std::uint32_t i = 0; i < channel.num_ready; ++i) {
    if (alone && (ready[i] & kMeets) != 0) {
      continue;
    }
    const std::int64_t other = lane_[ready[i] & kLane].urgency;
    if (best == kNone || other < urgency ||
        (other == urgency && (ready[i] & kLane) < (ready[best] & kLane))) {
      best = i;
      urgency = other;
    }
  }
  return best;
}

/// Takes one chunk from a ready lane.
void ListScheduler::send(ChannelState& channel, std::uint32_t place) {
  std::uint32_t* const ready = &ready_[channel.first];
  const std::uint32_t lane = ready[place] & kLane;
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
void ListScheduler::offer(LaneRef lane, std::uint32_t mark, std::uint32_t count) {
  LaneState& state = lane_[lane.lane];
  if (state.waiting == 0 && count > 0) {
    ChannelState& channel = channel_[lane.channel];
    ready_[channel.first + channel.num_ready++] = lane.lane | mark;
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
  if (state.opens.lane == kMeeting) {
    meet(lanes_.tree_of_gate(gate));
    return;
  }
  if (state.opens.lane != kNone) {
    offer(state.opens, 0, 1);
    return;
  }
  for (const std::uint32_t down : lanes_.opened_by_root(lanes_.tree_of_gate(gate))) {
    offer({down, lanes_.channel(down)}, kDown, 1);
  }
}

/// Both ends of a meeting may have become ready for more rounds.
void ListScheduler::meet(std::uint32_t tree) {
  const Lanes::Meeting& meeting = lanes_.meetings()[tree];
  const std::uint32_t rounds =
      std::min(gate_[meeting.root_gate].rounds, gate_[meeting.partner_gate].rounds);
  const std::uint32_t more = rounds - std::exchange(met_[tree], rounds);
  for (const std::uint32_t lane : {meeting.up, meeting.down}) {
    offer({lane, lanes_.channel(lane)}, kMeets, more);
  }
}

void ListScheduler::arrive(std::uint32_t lane) {
  const LaneInfo& state = info_[lane];
  if (!state.goes_up()) {
    for (std::uint32_t i = state.first; i < state.first + state.num_next; ++i) {
      offer(next_[i], kDown, 1);
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

/// Writes what started in this instant, channel by channel.
void ListScheduler::flush_records() {
  std::sort(started_.begin(), started_.end(), [](const Started& a, const Started& b) {
    return a.channel < b.channel;
  });
  for (const Started& started : started_) {
    const std::span<ChunkId> chunks(&chunks_[started.first_chunk], started.num_chunks);
    std::sort(chunks.begin(), chunks.end());
    std::int64_t bytes = 0;
    for (const ChunkId chunk : chunks) {
      bytes += output_.chunks->bytes(chunk).count;
    }
    const LinkId link = problem_.fabric.link(started.channel);
    const Ticks start{now_};
    const LinkCost cost = link_cost(output_.topology->link(link), {bytes}, problem_.costs.model());
    output_.builder->append(
        {.start = start, .op = started.op, .links = {&link, 1}, .chunks = chunks},
        start + cost.arrival);
  }
  started_.clear();
  chunks_.clear();
}

/// Puts the group that has been collected on the channel.
void ListScheduler::launch(std::uint32_t channel, Op op) {
  const Durations::Times& times = durations_.of(channel, static_cast<std::uint32_t>(group_.size()));
  channel_[channel].free_at = now_ + times.busy;
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
    started_.push_back({.channel = channel,
                        .op = op,
                        .first_chunk = static_cast<std::uint32_t>(chunks_.size()),
                        .num_chunks = static_cast<std::uint32_t>(group_.size())});
    for (const Sent& sent : group_) {
      chunks_.emplace_back(sent.round * lanes_.num_trees() + lanes_.tree(sent.lane));
    }
  }
  group_.clear();
}

/// Sends both halves of a meeting; the channel and its twin are free.
void ListScheduler::start_meeting(std::uint32_t channel, std::uint32_t place) {
  const std::uint32_t lane = ready_[channel_[channel].first + place] & kLane;
  const Lanes::Meeting& meeting = lanes_.meetings()[lanes_.tree(lane)];
  const std::uint32_t other = lane == meeting.up ? meeting.down : meeting.up;
  const std::uint32_t twin = problem_.fabric.twin(channel);
  send(channel_[channel], place);
  launch(channel, Op::kReduce);
  const std::uint32_t* const ready = &ready_[channel_[twin].first];
  std::uint32_t there = 0;
  while ((ready[there] & kLane) != other) {
    ++there;
  }
  send(channel_[twin], there);
  launch(twin, Op::kReduce);
}

/// Sends the most urgent chunk, and with it as many more of the same kind as the channel may.
void ListScheduler::start(std::uint32_t channel) {
  ChannelState& state = channel_[channel];
  state.touched = false;
  if (state.free_at > now_ || state.num_ready == 0) {
    return;
  }
  std::uint32_t place = most_urgent(channel, state);
  if (place == kNone) {
    return;
  }
  const std::uint32_t mark = ready_[state.first + place] & ~kLane;
  if (mark == kMeets) {
    start_meeting(channel, place);
    return;
  }
  const std::uint32_t limit = problem_.grouping.of(channel);
  send(state, place);
  while (group_.size() < limit && state.num_ready > 0) {
    place = most_urgent(channel, state);
    if (place == kNone || (ready_[state.first + place] & ~kLane) != mark) {
      break;
    }
    send(state, place);
  }
  launch(channel, mark == 0 ? Op::kReduce : Op::kCopy);
}

/// Memory is fetched this many entries ahead of its use, in as many steps as it has indirections.
constexpr std::size_t kAhead = 8;

void ListScheduler::start_touched() {
  // What a meeting does depends on which of its channels is asked first.
  if (output_.builder != nullptr || !met_.empty()) {
    std::sort(touched_.begin(), touched_.end());
  }
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    if (i + 2 * kAhead < touched_.size()) {
      __builtin_prefetch(&channel_[touched_[i + 2 * kAhead]]);
      const std::uint32_t first = channel_[touched_[i + kAhead]].first;
      __builtin_prefetch(ready_.data() + first);
      __builtin_prefetch(lane_.data() + first);
    }
    start(touched_[i]);
  }
  touched_.clear();
  if (output_.builder != nullptr) {
    flush_records();
  }
}

/// Fetches what applying an arrival will need; `steps` says how much of it is there already.
void ListScheduler::prefetch(std::uint32_t what, int steps) const {
  if ((what & kFreed) != 0) {
    return;
  }
  const LaneInfo* const info = info_.data() + what;
  if (steps == 0) {
    __builtin_prefetch(info);
  } else if (info->goes_up()) {
    __builtin_prefetch(gate_.data() + info->gate);
  } else {
    __builtin_prefetch(next_.data() + info->first);
  }
}

void ListScheduler::apply_happened() {
  for (std::size_t i = 0; i < happened_.size(); ++i) {
    if (i + 2 * kAhead < happened_.size()) {
      prefetch(happened_[i + 2 * kAhead], 0);
      prefetch(happened_[i + kAhead], 1);
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
    GateState& state = gate_[gate];
    const std::uint32_t rounds =
        rounds_of(lanes_.tree_of_gate(gate), lanes_.num_trees(), problem_.num_chunks);
    if (state.missing == 0 && state.opens.lane == kMeeting) {
      state.rounds = rounds;
      meet(lanes_.tree_of_gate(gate));
    } else if (state.missing == 0) {
      offer(state.opens, 0, rounds);
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
