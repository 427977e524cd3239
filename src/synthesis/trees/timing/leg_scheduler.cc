// SPDX-License-Identifier: MIT
// An event simulation whose state is per lane, not per chunk and node: how many chunks are ready to
// enter the lane, have entered it, have left it. A port keeps a list of its lanes that have
// something ready, and sends the most urgent that can start. A route through switches can start
// when each of its links is free by the time the head of the message gets there.
//
// Transfers that last equally long end in the order in which they began, so the events are one
// first-in-first-out list per distinct duration, and a heap of those lists: on uniform networks an
// event costs O(1). In all O(transfers * log(lanes per port * durations)).
//
// All arrivals of an instant are applied before anything starts in it, and what starts in it is
// decided port by port, in ascending order or, where ports compete for links behind switches, by
// urgency, so the result depends on nothing else.
#include "synthesis/trees/list_schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.h"
#include "synthesis/trees/list_scheduler.h"

namespace tacos::trees {
namespace {

/// Events that are not an arrival in a lane say that a link is free.
constexpr std::uint32_t kFreed = 1U << 31U;
/// Added to the number of a ready lane that goes down, or that is half of a meeting.
constexpr std::uint32_t kDown = 1U << 31U;
constexpr std::uint32_t kMeets = 1U << 30U;
constexpr std::uint32_t kLane = kMeets - 1;
/// Memory is fetched this many entries ahead of its use, in as many steps as it has indirections.
constexpr std::size_t kAhead = 8;
/// In place of the lane that a gate opens.
constexpr std::uint32_t kMeeting = kNone - 1;

}  // namespace

ListScheduler::ListScheduler(const ListProblem& problem,
                             const Urgency& urgency,
                             const ListOutput& output)
    : problem_(problem),
      lanes_(problem.lanes),
      urgency_(urgency),
      output_(output),
      durations_(problem.fabric, problem.costs, problem.grouping),
      events_(durations_.count()),
      free_on_arrival_(problem.costs.model() == LinkModel::kHold && problem.fabric.direct()),
      info_(lanes_.num_lanes()),
      lane_(lanes_.num_lanes()),
      gate_(lanes_.num_gates()),
      met_(lanes_.meetings().size(), 0),
      arrived_(lanes_.all_waits().size(), 0),
      ready_(lanes_.num_lanes()),
      port_(problem.fabric.num_ports()),
      free_at_(problem.fabric.direct() ? 0 : problem.fabric.num_links(), 0) {
  TACOS_ASSERT(lanes_.num_lanes() < kLane, "lane numbers leave bits for marks");
  for (const std::uint32_t lane : lanes_.all_next()) {
    next_.push_back(ref(lane));
  }
  for (std::uint32_t lane = 0; lane < lanes_.num_lanes(); ++lane) {
    const auto next = lanes_.next(lane);
    lane_[lane].urgency =
        urgency.table != nullptr ? urgency.table->at(lane, 0) : urgency.base[lane];
    info_[lane] = {.port = ref(lane).port,
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
      state.opens = ref(up);
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
  for (std::uint32_t port = 0; port < port_.size(); ++port) {
    port_[port].first = lanes_.first_lane(port);
  }
}

/// Whether the links behind the port will be free when the head of a transfer gets there.
bool ListScheduler::can_start(std::uint32_t channel) const {
  const auto links = problem_.fabric.links(channel);
  const std::uint32_t place = problem_.fabric.first_place(channel);
  for (std::uint32_t n = 1; n < links.size(); ++n) {
    if (free_at_[links[n].index()] > now_ + problem_.costs.head_start(place + n)) {
      return false;
    }
  }
  return true;
}

/// Where among the port's ready lanes the most urgent is that may start now, the lower lane when
/// two are equal; kNone when none may.
std::uint32_t ListScheduler::most_urgent(std::uint32_t number, const PortState& port) const {
  const std::uint32_t* const ready = &ready_[port.first];
  // Meetings are for direct links, where ports are channels.
  const bool alone = !met_.empty() && port_[problem_.fabric.twin(number)].free_at > now_;
  std::uint32_t best = kNone;
  std::int64_t urgency = 0;
  for (std::uint32_t i = 0; i < port.num_ready; ++i) {
    if (alone && (ready[i] & kMeets) != 0) {
      continue;
    }
    const std::uint32_t lane = ready[i] & kLane;
    const std::int64_t other = lane_[lane].urgency;
    if ((best == kNone || other < urgency || (other == urgency && lane < (ready[best] & kLane))) &&
        (free_at_.empty() || can_start(lanes_.channel(lane)))) {
      best = i;
      urgency = other;
    }
  }
  return best;
}

/// Takes one chunk from a ready lane.
void ListScheduler::send(PortState& port, std::uint32_t place) {
  std::uint32_t* const ready = &ready_[port.first];
  const std::uint32_t lane = ready[place] & kLane;
  LaneState& state = lane_[lane];
  group_.push_back({lane, state.sent++});
  if (urgency_.table == nullptr) {
    state.urgency += urgency_.step;
  } else if (state.sent < urgency_.table->rounds()) {
    state.urgency = urgency_.table->at(lane, state.sent);
  }
  if (--state.waiting == 0) {
    ready[place] = ready[--port.num_ready];
  }
}

/// `count` more chunks may enter the lane.
void ListScheduler::offer(LaneRef lane, std::uint32_t mark, std::uint32_t count) {
  LaneState& state = lane_[lane.lane];
  if (state.waiting == 0 && count > 0) {
    PortState& port = port_[lane.port];
    ready_[port.first + port.num_ready++] = lane.lane | mark;
    touch(lane.port, port);
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
    offer(ref(down), kDown, 1);
  }
}

/// Both ends of a meeting may have become ready for more rounds.
void ListScheduler::meet(std::uint32_t tree) {
  const Lanes::Meeting& meeting = lanes_.meetings()[tree];
  const std::uint32_t rounds =
      std::min(gate_[meeting.root_gate].rounds, gate_[meeting.partner_gate].rounds);
  const std::uint32_t more = rounds - std::exchange(met_[tree], rounds);
  for (const std::uint32_t lane : {meeting.up, meeting.down}) {
    offer(ref(lane), kMeets, more);
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
    const auto links = problem_.fabric.links(started.channel);
    const Ticks start{now_};
    output_.record({.start = start, .op = started.op, .links = links, .chunks = chunks},
                   start + route_time(*output_.topology, links, {bytes}));
  }
  started_.clear();
  chunks_.clear();
}

/// Takes the links of a channel until each is free again.
void ListScheduler::occupy(std::uint32_t port, std::uint32_t channel, std::uint32_t count) {
  const auto links = problem_.fabric.links(channel);
  for (std::uint32_t n = 0; n < links.size(); ++n) {
    const Durations::Span& free = durations_.free(channel, n, count);
    // Direct links are ports.
    const std::uint32_t freed = free_at_.empty() ? port : links[n].value();
    events_.push(free.number, now_ + free.time, kFreed | freed);
    (n == 0 ? port_[port].free_at : free_at_[links[n].index()]) = now_ + free.time;
  }
}

/// Puts the group that has been collected on the channel.
void ListScheduler::launch(std::uint32_t port, std::uint32_t channel, Op op) {
  const auto count = static_cast<std::uint32_t>(group_.size());
  const Durations::Span& arrival = durations_.arrival(channel, count);
  for (const Sent& sent : group_) {
    events_.push(arrival.number, now_ + arrival.time, sent.lane);
    if (output_.ends != nullptr) {
      output_.ends->at(sent.lane, sent.round) = now_ + arrival.time;
    }
  }
  if (free_on_arrival_) {
    port_[port].free_at = now_ + arrival.time;
  } else {
    occupy(port, channel, count);
  }
  end_ = std::max(end_, now_ + arrival.time);
  if (output_.record != nullptr) {
    started_.push_back({.channel = channel,
                        .op = op,
                        .first_chunk = static_cast<std::uint32_t>(chunks_.size()),
                        .num_chunks = static_cast<std::uint32_t>(group_.size())});
    for (const Sent& sent : group_) {
      chunks_.push_back(problem_.chunk(lanes_.tree(sent.lane), sent.round));
    }
  }
  group_.clear();
}

/// Sends both halves of a meeting; the port, which is a channel, and its twin are free.
void ListScheduler::start_meeting(std::uint32_t port, std::uint32_t place) {
  const std::uint32_t lane = ready_[port_[port].first + place] & kLane;
  const Lanes::Meeting& meeting = lanes_.meetings()[lanes_.tree(lane)];
  const std::uint32_t other = lane == meeting.up ? meeting.down : meeting.up;
  const std::uint32_t twin = problem_.fabric.twin(port);
  send(port_[port], place);
  launch(port, port, Op::kReduce);
  const std::uint32_t* const ready = &ready_[port_[twin].first];
  std::uint32_t there = 0;
  while ((ready[there] & kLane) != other) {
    ++there;
  }
  send(port_[twin], there);
  launch(twin, twin, Op::kReduce);
}

/// Sends the most urgent chunk, and with it as many more of the same kind as the channel may.
void ListScheduler::start(std::uint32_t port) {
  PortState& state = port_[port];
  state.touched = false;
  if (state.free_at > now_ || state.num_ready == 0) {
    return;
  }
  std::uint32_t place = most_urgent(port, state);
  if (place == kNone) {
    return;
  }
  const std::uint32_t mark = ready_[state.first + place] & ~kLane;
  if (mark == kMeets) {
    start_meeting(port, place);
    return;
  }
  // Where all links are direct, a port is a channel.
  const auto channel_at = [&](std::uint32_t at) {
    return free_at_.empty() ? port : lanes_.channel(ready_[state.first + at] & kLane);
  };
  const std::uint32_t channel = channel_at(place);
  const std::uint32_t limit = problem_.grouping.of(channel);
  send(state, place);
  while (group_.size() < limit && state.num_ready > 0) {
    place = most_urgent(port, state);
    if (place == kNone || (ready_[state.first + place] & ~kLane) != mark ||
        channel_at(place) != channel) {
      break;
    }
    send(state, place);
  }
  launch(port, channel, mark == 0 ? Op::kReduce : Op::kCopy);
}

/// What waited for the link, or the port that is a direct link, may start now.
void ListScheduler::freed(std::uint32_t link) {
  if (free_at_.empty()) {
    touch(link, port_[link]);
    return;
  }
  std::uint32_t last = kNone;
  for (const std::uint32_t channel : problem_.fabric.through(link)) {
    const std::uint32_t port = problem_.fabric.port(channel);
    PortState& state = port_[port];
    if (port != last && state.free_at <= now_ && state.num_ready > 0) {
      touch(port, state);
    }
    last = port;
  }
}

/// Ports that compete for links behind switches start in the order of their urgency.
void ListScheduler::order_touched() {
  if (free_at_.empty()) {
    // What a meeting does depends on which of its channels is asked first.
    if (output_.record != nullptr || !met_.empty()) {
      std::sort(touched_.begin(), touched_.end());
    }
    return;
  }
  by_urgency_.clear();
  for (const std::uint32_t port : touched_) {
    PortState& state = port_[port];
    const std::uint32_t place =
        state.free_at > now_ || state.num_ready == 0 ? kNone : most_urgent(port, state);
    state.touched = place != kNone;
    if (place != kNone) {
      by_urgency_.emplace_back(lane_[ready_[state.first + place] & kLane].urgency, port);
    }
  }
  std::sort(by_urgency_.begin(), by_urgency_.end());
  touched_.clear();
  for (const auto& [urgency, port] : by_urgency_) {
    touched_.push_back(port);
  }
}

void ListScheduler::start_touched() {
  order_touched();
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    if (i + 2 * kAhead < touched_.size()) {
      __builtin_prefetch(&port_[touched_[i + 2 * kAhead]]);
      const std::uint32_t first = port_[touched_[i + kAhead]].first;
      __builtin_prefetch(ready_.data() + first);
      __builtin_prefetch(lane_.data() + first);
    }
    start(touched_[i]);
  }
  touched_.clear();
  if (output_.record != nullptr) {
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
    if ((what & kFreed) != 0) {
      freed(what & ~kFreed);
      continue;
    }
    if (free_on_arrival_) {
      touch(info_[what].port, port_[info_[what].port]);
    }
    arrive(what);
  }
}

/// What needs nothing that has to arrive first.
void ListScheduler::offer_first() {
  for (std::uint32_t gate = 0; gate < lanes_.num_gates(); ++gate) {
    GateState& state = gate_[gate];
    const std::uint32_t rounds =
        rounds_of(lanes_.tree_of_gate(gate), lanes_.num_trees(), problem_.num_chunks);
    if (state.missing == 0 && state.opens.lane == kMeeting) {
      state.rounds = rounds;
      meet(lanes_.tree_of_gate(gate));
    } else if (state.missing == 0 && state.opens.lane != kNone) {
      offer(state.opens, 0, rounds);
    } else if (state.missing == 0 && lanes_.is_root(gate)) {
      for (const std::uint32_t down : lanes_.opened_by_root(lanes_.tree_of_gate(gate))) {
        offer(ref(down), kDown, rounds);
      }
    }
  }
}

bool ListScheduler::step() {
  if (!begun_) {
    begun_ = true;
    offer_first();
  } else {
    if (events_.empty()) {
      return false;
    }
    now_ = events_.next_time();
    happened_.clear();
    events_.take(happened_);
    apply_happened();
  }
  start_touched();
  return true;
}

LaneTable::LaneTable(const Lanes& lanes, std::uint32_t num_chunks)
    : rounds_((num_chunks + lanes.num_trees() - 1) / lanes.num_trees()),
      values_(std::size_t{lanes.num_lanes()} * rounds_, 0) {}

std::uint32_t Grouping::most() const {
  return limit.empty() ? 1 : *std::max_element(limit.begin(), limit.end());
}

std::int64_t list_schedule(const ListProblem& problem,
                           const Urgency& urgency,
                           const ListOutput& output) {
  ListScheduler scheduler(problem, urgency, output);
  while (scheduler.end() <= kMaxTime.ps && scheduler.step()) {
  }
  return scheduler.end();
}

}  // namespace tacos::trees
