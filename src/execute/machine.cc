// SPDX-License-Identifier: MIT
// Lanes go on for as long as they can; one that cannot is woken by the step that it waits for, or
// by its message. So the work is that of the steps, however many lanes there are.
//
// Of a lane several messages are under way at once. A message is posted when its step could begin,
// and those before it in the lane could too; steps are complete in the order of the lane, as others
// wait for the last of several. Within a lane a message is not received into a slot that a step
// before it still uses.
//
// Sums are received into a staging slot, before what they are added to is there. Any other message
// goes to its place directly once that is free: a slot that is still being sent must keep the value
// that the send began with. A transport may hold a message back until it is received, so two that
// wait for each other's place to become free would wait forever. Lowering promises that FIFOs of
// two messages are enough: when nothing moves, the next two of every lane are received into staging
// slots, and copied to their places later.
//
// O(steps + dependencies) for a run, and what the transport takes.
#include "execute/machine.h"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/assert.h"
#include "execute/run_to_end.h"

namespace tacos::execution {
namespace {

/// Messages that a FIFO must take so that programs come to their end (LowerOptions::fifo_slots).
constexpr std::uint32_t kFifoSlots = 2;
/// After so many calls in vain, messages are received that have no place yet.
constexpr std::uint32_t kPatience = 64;

}  // namespace

Machine::Machine(Script script, std::unique_ptr<Connection> connection, ExecuteOptions options)
    : script_(std::move(script)),
      connection_(std::move(connection)),
      options_(std::move(options)),
      missing_(script_.steps.size()),
      bound_(script_.steps.size()),
      staged_(script_.steps.size()),
      lanes_(script_.lanes.size()) {
  options_.depth = std::max(options_.depth, kFifoSlots);
  ready_.reserve(script_.lanes.size());
  for (std::uint32_t lane = 0; lane < script_.lanes.size(); ++lane) {
    if (script_.lanes[lane].role != LaneRole::kLocal) {
      lane_of_end_.push_back(lane);
    }
  }
}

Status Machine::bind(std::size_t count, ElementType type, ReduceOp op) {
  if (Status has = check_reduction(type, op); !has) {
    return has;
  }
  // Twice what any machine has, so that sizes below cannot overflow.
  constexpr std::size_t kMost = std::size_t{1} << 48U;
  const std::size_t parts = script_.parts ? script_.participants : 1;
  if (count > kMost / parts / element_bytes(type)) {
    return input_error(fmt::format("{} elements are more than any machine has", count));
  }
  layout_ = {.unit = count, .cuts = script_.cuts, .element = element_bytes(type)};
  reduction_ = execution::reduction(type, op);
  for (std::size_t i = 0; i < script_.steps.size(); ++i) {
    const ScriptStep& step = script_.steps[i];
    bound_[i] = is_credit(step.kind) ? BoundStep{.bytes = 1}
                                     : BoundStep{.from = offset(step.from),
                                                 .to = offset(step.to),
                                                 .bytes = layout_.bytes(step.cut)};
  }
  scratch_.resize(script_.slots.scratch * layout_.stride());
  std::size_t staging = 0;
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    lanes_[lane].staging = staging;
    lanes_[lane].window = window(script_.lanes[lane]);
    staging +=
        script_.lanes[lane].role == LaneRole::kReceive ? lanes_[lane].window * layout_.stride() : 0;
  }
  staging_.resize(staging);
  is_bound_ = true;
  return ok();
}

void Machine::start(const void* input, void* output) {
  TACOS_ASSERT(is_bound_, "an executor is bound before it runs");
  // Inputs are only read, unless the program says that they are the output as well.
  base_[0] = static_cast<std::byte*>(const_cast<void*>(input));
  base_[1] = static_cast<std::byte*>(output);
  base_[2] = scratch_.data();
  std::copy(script_.waits.begin(), script_.waits.end(), missing_.begin());
  remaining_ = script_.steps.size();
  idle_ = 0;
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    lanes_[lane].next = 0;
    lanes_[lane].arrived = 0;
    lanes_[lane].head = 0;
    wake(lane);
  }
  finished_ = false;
}

Result<bool> Machine::advance() {
  if (failed_) {
    return Error{.code = ErrorCode::kInternal,
                 .message = "a program that failed cannot be run again",
                 .where = {}};
  }
  while (!ready_.empty()) {
    const std::uint32_t lane = ready_.back();
    ready_.pop_back();
    lanes_[lane].queued = false;
    go_on(lane);
  }
  if (remaining_ == 0) {
    finish();
    return true;
  }
  const Result<std::span<const std::uint32_t>> done = connection_->progress();
  if (!done) {
    failed_ = true;
    return done.error();
  }
  if (done->empty()) {
    if (Status idle = note_idle(); !idle) {
      failed_ = true;
      return idle.error();
    }
    return false;
  }
  idle_ = 0;
  for (const std::uint32_t end : *done) {
    arrive(lane_of_end_[end]);
  }
  return false;
}

Status Machine::run(const void* input, void* output) {
  start(input, output);
  return run_to_end(*this);
}

std::uint32_t Machine::window(const ScriptLane& lane) const {
  // Of long messages few are enough to keep a wire busy, and staging slots are memory.
  constexpr std::size_t kMostStaging = std::size_t{4} << 20U;
  const std::size_t fitting = kMostStaging / std::max<std::size_t>(layout_.stride(), 1);
  return lane.role == LaneRole::kReceive ? static_cast<std::uint32_t>(std::clamp<std::size_t>(
                                               fitting, kFifoSlots, options_.depth))
                                         : options_.depth;
}

void Machine::wake(std::uint32_t lane) {
  if (!lanes_[lane].queued) {
    lanes_[lane].queued = true;
    ready_.push_back(lane);
  }
}

void Machine::complete(std::uint32_t step) {
  --remaining_;
  for (const std::uint32_t waiter : script_.waiting_for(step)) {
    if (--missing_[waiter] == 0) {
      wake(script_.steps[waiter].lane);
    }
  }
}

void Machine::go_on(std::uint32_t lane) {
  switch (script_.lanes[lane].role) {
    case LaneRole::kLocal:
      work(lane);
      break;
    case LaneRole::kSend:
      do {
        post_sends(lane);
      } while (settle(lane));
      break;
    case LaneRole::kReceive:
      do {
        post_receives(lane, false);
      } while (settle(lane));
      break;
  }
}

void Machine::work(std::uint32_t lane) {
  const ScriptLane& own = script_.lanes[lane];
  LaneState& state = lanes_[lane];
  while (state.head < own.count && missing_[own.first + state.head] == 0) {
    const std::uint32_t step = own.first + state.head++;
    const std::size_t bytes = bound_[step].bytes;
    if (bytes > 0) {
      if (script_.steps[step].kind == StepKind::kCopy) {
        std::memcpy(to(step), from(step), bytes);
      } else {
        reduction_.add(to(step), from(step), bytes / layout_.element);
      }
    }
    complete(step);
  }
}

void Machine::post_sends(std::uint32_t lane) {
  const ScriptLane& own = script_.lanes[lane];
  LaneState& state = lanes_[lane];
  while (state.next < own.count && state.next - state.head < state.window &&
         missing_[own.first + state.next] == 0) {
    const std::uint32_t step = own.first + state.next++;
    if (bound_[step].bytes > 0) {
      const bool credit = script_.steps[step].kind == StepKind::kGrant;
      connection_->post_send(own.end, {credit ? &credit_ : from(step), bound_[step].bytes});
    }
  }
  skip_empty(lane);
}

void Machine::post_receives(std::uint32_t lane, bool forced) {
  const ScriptLane& own = script_.lanes[lane];
  LaneState& state = lanes_[lane];
  while (state.next < own.count && state.next - state.head < state.window) {
    const std::uint32_t step = own.first + state.next;
    const bool sums = script_.steps[step].kind == StepKind::kReceiveReduce;
    if (script_.steps[step].kind == StepKind::kAwait) {
      staged_[step] = 0;
      connection_->post_receive(own.end, {&credit_, 1});
    } else if (bound_[step].bytes > 0) {
      const bool direct = !sums && place_is_free(lane);
      if (!sums && !direct && !(forced && state.next - state.head < kFifoSlots)) {
        break;
      }
      staged_[step] = !direct;
      stats_.staged += !sums && !direct ? 1 : 0;
      connection_->post_receive(
          own.end, {direct ? to(step) : staging_slot(state, state.next), bound_[step].bytes});
    }
    ++state.next;
  }
  skip_empty(lane);
}

bool Machine::place_is_free(std::uint32_t lane) const {
  const ScriptLane& own = script_.lanes[lane];
  const LaneState& state = lanes_[lane];
  const std::uint32_t step = own.first + state.next;
  if (missing_[step] != 0) {
    return false;
  }
  const Slot place = script_.steps[step].to;
  for (std::uint32_t before = own.first + state.head; before < step; ++before) {
    const ScriptStep& other = script_.steps[before];
    const bool reads = other.kind == StepKind::kReceiveReduce && other.from == place;
    if (missing_[before] != 0 || reads || other.to == place) {
      return false;
    }
  }
  return true;
}

void Machine::skip_empty(std::uint32_t lane) {
  LaneState& state = lanes_[lane];
  while (state.arrived < state.next &&
         bound_[script_.lanes[lane].first + state.arrived].bytes == 0) {
    ++state.arrived;
  }
}

void Machine::arrive(std::uint32_t lane) {
  ++lanes_[lane].arrived;
  ++stats_.messages;
  skip_empty(lane);
  wake(lane);
}

bool Machine::settle(std::uint32_t lane) {
  const ScriptLane& own = script_.lanes[lane];
  LaneState& state = lanes_[lane];
  const std::uint32_t before = state.head;
  while (state.head < state.arrived && missing_[own.first + state.head] == 0) {
    const std::uint32_t step = own.first + state.head;
    if (own.role == LaneRole::kReceive && bound_[step].bytes > 0 && staged_[step] != 0) {
      unstage(step, staging_slot(state, state.head));
    }
    ++state.head;
    complete(step);
  }
  return state.head > before;
}

void Machine::unstage(std::uint32_t step, const std::byte* message) {
  const std::size_t bytes = bound_[step].bytes;
  if (script_.steps[step].kind == StepKind::kReceive) {
    std::memcpy(to(step), message, bytes);
  } else if (script_.steps[step].from == script_.steps[step].to) {
    reduction_.add(to(step), message, bytes / layout_.element);
  } else {
    reduction_.join(to(step), from(step), message, bytes / layout_.element);
  }
}

Status Machine::note_idle() {
  // The clock is asked seldom.
  constexpr std::uint32_t kSeldom = 256;
  ++idle_;
  if (idle_ == 1) {
    idle_since_ = Clock::now();
  }
  if (idle_ % kPatience == 0) {
    force_receives();
  }
  if (idle_ % kSeldom == 0 && Clock::now() - idle_since_ > options_.limit) {
    return Error{.code = ErrorCode::kInternal, .message = who_waits(), .where = {}};
  }
  return ok();
}

void Machine::force_receives() {
  for (const std::uint32_t lane : lane_of_end_) {
    if (script_.lanes[lane].role == LaneRole::kReceive) {
      post_receives(lane, true);
      wake(lane);
    }
  }
}

void Machine::pause() const {
  constexpr std::uint32_t kSpins = 16;
  if (idle_ > kSpins) {
    connection_->wait(idle_);
  }
}

void Machine::finish() {
  if (finished_) {
    return;
  }
  finished_ = true;
  ++stats_.runs;
  if (reduction_.finish != nullptr) {
    for (const Slot& slot : script_.sums) {
      const std::size_t elements = layout_.bytes(slot.index % script_.cuts) / layout_.element;
      reduction_.finish(at(slot.buffer, offset(slot)), elements, script_.participants);
    }
  }
}

std::string Machine::who_waits() const {
  constexpr int kNamed = 3;
  std::string text =
      fmt::format("nothing came for {} s", static_cast<double>(options_.limit.count()) / 1e3);
  int named = 0;
  for (std::uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    const ScriptLane& own = script_.lanes[lane];
    const LaneState& state = lanes_[lane];
    if (own.role == LaneRole::kLocal || state.arrived == state.next || named == kNamed) {
      continue;
    }
    ++named;
    text += fmt::format("; lane {} waits for NPU {} to {} message {} of {} on channel {}",
                        lane,
                        own.peer.value(),
                        own.role == LaneRole::kSend ? "take" : "send",
                        state.arrived + 1,
                        own.count,
                        own.channel);
  }
  return text;
}

}  // namespace tacos::execution
