// SPDX-License-Identifier: MIT
// An event simulation whose state is per leg, not per chunk and node: how many chunks are ready to
// enter the leg, have entered it, have left it. A outlet keeps a list of its legs that have
// something ready, and sends the most urgent that can start. A route through switches can start
// when each of its links is free by the time the head of the message gets there.
//
// Transfers that last equally long end in the order in which they began, so the events are one
// first-in-first-out list per distinct duration, and a heap of those lists: on uniform networks an
// event costs O(1). In all O(transfers * log(legs per outlet * durations)).
//
// All arrivals of an instant are applied before anything starts in it, and what starts in it is
// decided outlet by outlet, in ascending order or, where outlets compete for links behind switches,
// by urgency, so the result depends on nothing else.
#include "synthesis/trees/timing/leg_scheduler.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/assert.h"
#include "base/parallel/cancel.h"
#include "synthesis/trees/timing/leg_simulation.h"

namespace tacos::trees {
namespace {

/// Events that are not an arrival in a leg say that a link is free.
constexpr std::uint32_t kFreed = 1U << 31U;
/// Added to the number of a ready leg that goes down, or that is half of a meeting.
constexpr std::uint32_t kDown = 1U << 31U;
constexpr std::uint32_t kMeets = 1U << 30U;
constexpr std::uint32_t kLeg = kMeets - 1;
/// Memory is fetched this many entries ahead of its use, in as many steps as it has indirections.
constexpr std::size_t kAhead = 8;
/// In place of the leg that a gate opens.
constexpr std::uint32_t kMeeting = kNone - 1;

}  // namespace

LegSimulation::LegSimulation(const LegProblem& problem,
                             const Urgency& urgency,
                             const LegOutput& output)
    : problem_(problem),
      legs_(problem.legs),
      urgency_(urgency),
      output_(output),
      durations_(problem.fabric, problem.costs, problem.sharing),
      events_(durations_.count()),
      free_on_arrival_(problem.costs.model() == LinkModel::kHold && problem.fabric.direct()),
      info_(legs_.num_legs()),
      leg_(legs_.num_legs()),
      gate_(legs_.num_gates()),
      met_(legs_.meetings().size(), 0),
      arrived_(legs_.all_waits().size(), 0),
      ready_(legs_.num_legs()),
      next_of_ready_(problem.fabric.direct() ? 0 : legs_.num_legs()),
      outlet_(problem.fabric.num_outlets()),
      free_at_(problem.fabric.direct() ? 0 : problem.fabric.num_links(), 0) {
  TACOS_ASSERT(legs_.num_legs() < kLeg, "leg numbers leave bits for marks");
  for (const std::uint32_t leg : legs_.all_next()) {
    next_.push_back(ref(leg));
  }
  for (std::uint32_t leg = 0; leg < legs_.num_legs(); ++leg) {
    const auto next = legs_.next(leg);
    leg_[leg].urgency = urgency.table != nullptr ? urgency.table->at(leg, 0) : urgency.base[leg];
    info_[leg] = {.outlet = ref(leg).outlet,
                  .gate = legs_.into(leg),
                  .first = static_cast<std::uint32_t>(next.data() - legs_.all_next().data()),
                  .num_next = static_cast<std::uint32_t>(next.size())};
  }
  for (std::uint32_t gate = 0; gate < legs_.num_gates(); ++gate) {
    const auto waits = legs_.waits_for(gate);
    GateState& state = gate_[gate];
    state.missing = static_cast<std::uint32_t>(waits.size());
    state.first = static_cast<std::uint32_t>(waits.data() - legs_.all_waits().data());
    state.last = state.first + state.missing;
    if (const std::uint32_t up = legs_.opens(gate); up != kNone) {
      state.opens = ref(up);
    }
    for (std::uint32_t i = 0; i < waits.size(); ++i) {
      info_[waits[i]].first = state.first + i;
    }
  }
  for (std::uint32_t tree = 0; tree < legs_.meetings().size(); ++tree) {
    const Legs::Meeting& meeting = legs_.meetings()[tree];
    gate_[meeting.root_gate].opens.leg = kMeeting;
    gate_[meeting.partner_gate].opens.leg = kMeeting;
    // What the root's half brings is the whole sum: on with it, as when it goes down.
    const auto next = legs_.opened_by_root(tree);
    info_[meeting.up].first = static_cast<std::uint32_t>(next.data() - legs_.all_next().data());
    info_[meeting.up].num_next = static_cast<std::uint32_t>(next.size());
  }
  for (std::uint32_t outlet = 0; outlet < outlet_.size(); ++outlet) {
    outlet_[outlet].first = legs_.first_leg(outlet);
  }
  behind_.resize(free_at_.empty() ? 0 : problem.fabric.num_hops());
  for (std::uint32_t hop = 0; hop < behind_.size(); ++hop) {
    if (const auto links = problem.fabric.links(hop); links.size() == 2) {
      behind_[hop] = {.head_start = problem.costs.head_start(problem.fabric.first_place(hop) + 1),
                      .link = links[1].value()};
    }
  }
}

/// Where among the outlet's ready legs the most urgent is that may start now, the lower leg when
/// two are equal; kNone when none may.
std::uint32_t LegSimulation::most_urgent(std::uint32_t number, const OutletState& outlet) const {
  if (!free_at_.empty()) {
    return most_urgent_behind(outlet);
  }
  const std::uint32_t* const ready = &ready_[outlet.first];
  // Meetings are for direct links, where outlets are hops.
  const bool alone = !met_.empty() && outlet_[problem_.fabric.twin(number)].free_at > now_;
  std::uint32_t best = kNone;
  std::int64_t urgency = 0;
  for (std::uint32_t i = 0; i < outlet.num_ready; ++i) {
    if (alone && (ready[i] & kMeets) != 0) {
      continue;
    }
    const std::uint32_t leg = ready[i] & kLeg;
    const std::int64_t other = leg_[leg].urgency;
    if (best == kNone || other < urgency || (other == urgency && leg < (ready[best] & kLeg))) {
      best = i;
      urgency = other;
    }
  }
  return best;
}

/// The same where links behind the outlet may be taken.
std::uint32_t LegSimulation::most_urgent_behind(const OutletState& outlet) const {
  const std::uint32_t* const ready = &ready_[outlet.first];
  const Next* const next = &next_of_ready_[outlet.first];
  std::uint32_t best = kNone;
  std::int64_t urgency = 0;
  // Legs of many trees share a hop.
  std::uint32_t blocked = kNone;
  for (std::uint32_t i = 0; i < outlet.num_ready; ++i) {
    const auto [other, hop] = next[i];
    const bool first = best == kNone || other < urgency ||
                       (other == urgency && (ready[i] & kLeg) < (ready[best] & kLeg));
    if (!first || hop == blocked) {
      continue;
    }
    if (can_start(hop)) {
      best = i;
      urgency = other;
    } else {
      blocked = hop;
    }
  }
  return best;
}

/// Takes one chunk from a ready leg.
void LegSimulation::send(OutletState& outlet, std::uint32_t place) {
  std::uint32_t* const ready = &ready_[outlet.first];
  const std::uint32_t leg = ready[place] & kLeg;
  LegState& state = leg_[leg];
  shared_.push_back({leg, state.sent++});
  if (urgency_.table == nullptr) {
    state.urgency += urgency_.step;
  } else if (state.sent < urgency_.table->rounds()) {
    state.urgency = urgency_.table->at(leg, state.sent);
    urgency_.table->prefetch(leg, state.sent + 1);
  }
  const bool last = --state.waiting == 0;
  if (last) {
    ready[place] = ready[--outlet.num_ready];
  }
  if (!free_at_.empty()) {
    Next* const next = &next_of_ready_[outlet.first];
    next[place] = last ? next[outlet.num_ready] : Next{state.urgency, next[place].hop};
  }
}

/// `count` more chunks may enter the leg.
void LegSimulation::offer(LegRef leg, std::uint32_t mark, std::uint32_t count) {
  LegState& state = leg_[leg.leg];
  if (state.waiting == 0 && count > 0) {
    OutletState& outlet = outlet_[leg.outlet];
    if (!free_at_.empty()) {
      next_of_ready_[outlet.first + outlet.num_ready] = {state.urgency, legs_.hop(leg.leg)};
    }
    ready_[outlet.first + outlet.num_ready++] = leg.leg | mark;
    touch(leg.outlet, outlet);
    if (urgency_.table != nullptr) {
      // How urgent the chunk after this one is, which is asked for when this one is sent.
      urgency_.table->prefetch(leg.leg, state.sent + 1);
    }
  }
  state.waiting += count;
}

/// Everything that the gate waits for has arrived for one more round.
void LegSimulation::open(std::uint32_t gate) {
  GateState& state = gate_[gate];
  ++state.rounds;
  for (std::uint32_t i = state.first; i < state.last; ++i) {
    state.missing += arrived_[i] <= state.rounds ? 1 : 0;
  }
  if (state.opens.leg == kMeeting) {
    meet(legs_.tree_of_gate(gate));
    return;
  }
  if (state.opens.leg != kNone) {
    offer(state.opens, 0, 1);
    return;
  }
  for (const std::uint32_t down : legs_.opened_by_root(legs_.tree_of_gate(gate))) {
    offer(ref(down), kDown, 1);
  }
}

/// Both ends of a meeting may have become ready for more rounds.
void LegSimulation::meet(std::uint32_t tree) {
  const Legs::Meeting& meeting = legs_.meetings()[tree];
  const std::uint32_t rounds =
      std::min(gate_[meeting.root_gate].rounds, gate_[meeting.partner_gate].rounds);
  const std::uint32_t more = rounds - std::exchange(met_[tree], rounds);
  for (const std::uint32_t leg : {meeting.up, meeting.down}) {
    offer(ref(leg), kMeets, more);
  }
}

void LegSimulation::arrive(std::uint32_t leg) {
  const LegInfo& state = info_[leg];
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

/// Writes what started in this instant, hop by hop.
void LegSimulation::flush_records() {
  std::sort(started_.begin(), started_.end(), [](const Started& a, const Started& b) {
    return a.hop < b.hop;
  });
  for (const Started& started : started_) {
    const std::span<ChunkId> chunks(&chunks_[started.first_chunk], started.num_chunks);
    std::sort(chunks.begin(), chunks.end());
    const Bytes bytes = output_.chunks->bytes(chunks);
    const auto links = problem_.fabric.links(started.hop);
    const Ticks start{now_};
    output_.record({.start = start, .op = started.op, .links = links, .chunks = chunks},
                   start + route_time(*output_.topology, links, bytes));
  }
  started_.clear();
  chunks_.clear();
}

/// Takes the links of a hop until each is free again.
void LegSimulation::occupy(std::uint32_t outlet, std::uint32_t hop, std::uint32_t count) {
  const auto links = problem_.fabric.links(hop);
  for (std::uint32_t n = 0; n < links.size(); ++n) {
    const Durations::Span& free = durations_.free(hop, n, count);
    // Direct links are outlets.
    const std::uint32_t freed = free_at_.empty() ? outlet : links[n].value();
    events_.push(free.number, now_ + free.time, kFreed | freed);
    (n == 0 ? outlet_[outlet].free_at : free_at_[links[n].index()]) = now_ + free.time;
  }
}

/// Puts the chunks that have been collected on the hop.
void LegSimulation::launch(std::uint32_t outlet, std::uint32_t hop, Op op) {
  const auto count = static_cast<std::uint32_t>(shared_.size());
  const Durations::Span& arrival = durations_.arrival(hop, count);
  for (const Sent& sent : shared_) {
    events_.push(arrival.number, now_ + arrival.time, sent.leg);
    if (output_.ends != nullptr) {
      output_.ends->at(sent.leg, sent.round) = now_ + arrival.time;
    }
  }
  if (free_on_arrival_) {
    outlet_[outlet].free_at = now_ + arrival.time;
  } else {
    occupy(outlet, hop, count);
  }
  end_ = std::max(end_, now_ + arrival.time);
  if (output_.record != nullptr) {
    started_.push_back({.hop = hop,
                        .op = op,
                        .first_chunk = static_cast<std::uint32_t>(chunks_.size()),
                        .num_chunks = static_cast<std::uint32_t>(shared_.size())});
    for (const Sent& sent : shared_) {
      chunks_.push_back(problem_.chunk(legs_.tree(sent.leg), sent.round));
    }
  }
  shared_.clear();
}

/// Sends both halves of a meeting; the outlet, which is a hop, and its twin are free.
void LegSimulation::start_meeting(std::uint32_t outlet, std::uint32_t place) {
  const std::uint32_t leg = ready_[outlet_[outlet].first + place] & kLeg;
  const Legs::Meeting& meeting = legs_.meetings()[legs_.tree(leg)];
  const std::uint32_t other = leg == meeting.up ? meeting.down : meeting.up;
  const std::uint32_t twin = problem_.fabric.twin(outlet);
  send(outlet_[outlet], place);
  launch(outlet, outlet, Op::kReduce);
  const std::uint32_t* const ready = &ready_[outlet_[twin].first];
  std::uint32_t there = 0;
  while ((ready[there] & kLeg) != other) {
    ++there;
  }
  send(outlet_[twin], there);
  launch(twin, twin, Op::kReduce);
}

/// Sends the most urgent chunk, and with it as many more of the same kind as the hop may.
void LegSimulation::start(std::uint32_t outlet) {
  OutletState& state = outlet_[outlet];
  state.touched = false;
  if (state.free_at > now_ || state.num_ready == 0) {
    return;
  }
  // Others that have started since have only taken links away.
  std::uint32_t place = state.choice;
  if (free_at_.empty() || !can_start(next_of_ready_[state.first + place].hop)) {
    place = most_urgent(outlet, state);
  }
  if (place == kNone) {
    return;
  }
  const std::uint32_t mark = ready_[state.first + place] & ~kLeg;
  if (mark == kMeets) {
    start_meeting(outlet, place);
    return;
  }
  // Where all links are direct, an outlet is a hop.
  const auto hop_at = [&](std::uint32_t at) {
    return free_at_.empty() ? outlet : next_of_ready_[state.first + at].hop;
  };
  const std::uint32_t hop = hop_at(place);
  const std::uint32_t limit = problem_.sharing.of(hop);
  send(state, place);
  while (shared_.size() < limit && state.num_ready > 0) {
    place = most_urgent(outlet, state);
    if (place == kNone || (ready_[state.first + place] & ~kLeg) != mark || hop_at(place) != hop) {
      break;
    }
    send(state, place);
  }
  launch(outlet, hop, mark == 0 ? Op::kReduce : Op::kCopy);
}

/// What waited for the link, or the outlet that is a direct link, may start now.
void LegSimulation::freed(std::uint32_t link) {
  if (free_at_.empty()) {
    touch(link, outlet_[link]);
    return;
  }
  for (const std::uint32_t outlet : problem_.fabric.outlets_of(link)) {
    OutletState& state = outlet_[outlet];
    if (state.free_at <= now_ && state.num_ready > 0) {
      touch(outlet, state);
    }
  }
}

/// Outlets that compete for links behind switches start in the order of their urgency.
void LegSimulation::order_touched() {
  if (free_at_.empty()) {
    // What a meeting does depends on which of its hops is asked first.
    if (output_.record != nullptr || !met_.empty()) {
      std::sort(touched_.begin(), touched_.end());
    }
    return;
  }
  by_urgency_.clear();
  for (const std::uint32_t outlet : touched_) {
    OutletState& state = outlet_[outlet];
    const std::uint32_t place =
        state.free_at > now_ || state.num_ready == 0 ? kNone : most_urgent(outlet, state);
    state.touched = place != kNone;
    state.choice = place;
    if (place != kNone) {
      by_urgency_.emplace_back(next_of_ready_[state.first + place].urgency, outlet);
    }
  }
  std::sort(by_urgency_.begin(), by_urgency_.end());
  touched_.clear();
  for (const auto& [urgency, outlet] : by_urgency_) {
    touched_.push_back(outlet);
  }
}

void LegSimulation::start_touched() {
  order_touched();
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    if (i + 2 * kAhead < touched_.size()) {
      __builtin_prefetch(&outlet_[touched_[i + 2 * kAhead]]);
      const std::uint32_t first = outlet_[touched_[i + kAhead]].first;
      __builtin_prefetch(ready_.data() + first);
      __builtin_prefetch(leg_.data() + first);
    }
    start(touched_[i]);
  }
  touched_.clear();
  if (output_.record != nullptr) {
    flush_records();
  }
}

/// Fetches what applying an arrival will need; `steps` says how much of it is there already.
void LegSimulation::prefetch(std::uint32_t what, int steps) const {
  if ((what & kFreed) != 0) {
    return;
  }
  const LegInfo* const info = info_.data() + what;
  if (steps == 0) {
    __builtin_prefetch(info);
  } else if (info->goes_up()) {
    __builtin_prefetch(gate_.data() + info->gate);
  } else {
    __builtin_prefetch(next_.data() + info->first);
  }
}

void LegSimulation::apply_happened() {
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
      touch(info_[what].outlet, outlet_[info_[what].outlet]);
    }
    arrive(what);
  }
}

/// What needs nothing that has to arrive first.
void LegSimulation::offer_first() {
  for (std::uint32_t gate = 0; gate < legs_.num_gates(); ++gate) {
    GateState& state = gate_[gate];
    const std::uint32_t rounds =
        rounds_of(legs_.tree_of_gate(gate), legs_.num_trees(), problem_.num_chunks);
    if (state.missing == 0 && state.opens.leg == kMeeting) {
      state.rounds = rounds;
      meet(legs_.tree_of_gate(gate));
    } else if (state.missing == 0 && state.opens.leg != kNone) {
      offer(state.opens, 0, rounds);
    } else if (state.missing == 0 && legs_.is_root(gate)) {
      for (const std::uint32_t down : legs_.opened_by_root(legs_.tree_of_gate(gate))) {
        offer(ref(down), kDown, rounds);
      }
    }
  }
}

bool LegSimulation::step() {
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

std::int64_t schedule_legs(const LegProblem& problem,
                           const Urgency& urgency,
                           const LegOutput& output,
                           std::int64_t limit) {
  LegSimulation scheduler(problem, urgency, output);
  CancelPoll poll;
  while (scheduler.end() <= limit && scheduler.step()) {
    poll();
  }
  return scheduler.end();
}

}  // namespace tacos::trees
