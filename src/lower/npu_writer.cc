// SPDX-License-Identifier: MIT
#include "lower/npu_writer.h"

#include <algorithm>
#include <utility>

namespace tacos::lowering {

void NpuWriter::begin(BufferSlots slots, std::span<const NpuNotes::NotedLane> lanes) {
  program_ = {.slots = slots, .lanes = {}, .dependencies = {}};
  // One more for local work.
  program_.lanes.reserve(lanes.size() + 1);
  for (const NpuNotes::NotedLane& lane : lanes) {
    program_.lanes.push_back(
        {.role = lane.role, .peer = lane.peer, .channel = lane.channel, .steps = {}});
    program_.lanes.back().steps.reserve(lane.steps);
  }
  local_ = kNone;
  uses_[0].assign(slots.input, {});
  uses_[1].assign(slots.output, {});
  uses_[2].clear();
  free_.clear();
  reads_.clear();
  spare_read_ = kNone;
  waits_.clear();
}

NpuProgram NpuWriter::take() {
  program_.dependencies.assign(waits_.begin(), waits_.end());
  return std::move(program_);
}

std::uint32_t NpuWriter::local() {
  if (local_ == kNone) {
    local_ = static_cast<std::uint32_t>(program_.lanes.size());
    program_.lanes.push_back(
        {.role = LaneRole::kLocal, .peer = NodeId(0), .channel = 0, .steps = {}});
  }
  return local_;
}

Slot NpuWriter::take_scratch() {
  if (!free_.empty()) {
    const Slot slot{Buffer::kScratch, free_.back()};
    free_.pop_back();
    return slot;
  }
  return {Buffer::kScratch, program_.slots.scratch++};
}

NpuWriter::Use& NpuWriter::use_of(Slot slot) {
  std::vector<Use>& uses = uses_[static_cast<std::size_t>(slot.buffer)];
  if (slot.index >= uses.size()) {
    uses.resize(slot.index + 1);
  }
  return uses[slot.index];
}

void NpuWriter::wait_for(const Dependency& other, std::uint32_t lane) {
  if (other.lane == lane || other.lane == kNone) {
    return;
  }
  const auto same = std::find_if(waits_.begin() + static_cast<std::ptrdiff_t>(first_wait_),
                                 waits_.end(),
                                 [&](const Dependency& wait) { return wait.lane == other.lane; });
  if (same == waits_.end()) {
    waits_.push_back(other);
  } else {
    same->step = std::max(same->step, other.step);
  }
}

void NpuWriter::note_read(Use& use, const Dependency& by) {
  std::uint32_t read = spare_read_;
  if (read == kNone) {
    read = static_cast<std::uint32_t>(reads_.size());
    reads_.emplace_back();
  } else {
    spare_read_ = reads_[read].next;
  }
  reads_[read] = {.by = by, .next = use.read};
  use.read = read;
}

void NpuWriter::wait_for_reads(Use& use, const Dependency& self) {
  while (use.read != kNone) {
    const std::uint32_t read = use.read;
    if (reads_[read].by != self) {
      wait_for(reads_[read].by, self.lane);
    }
    use.read = std::exchange(reads_[read].next, spare_read_);
    spare_read_ = read;
  }
}

void NpuWriter::add(
    std::uint32_t lane, StepKind kind, Slot from, Slot to, const Dependency* after) {
  std::vector<Step>& steps = program_.lanes[lane].steps;
  const Dependency self{.lane = lane, .step = static_cast<std::uint32_t>(steps.size())};
  first_wait_ = waits_.size();
  if (after != nullptr) {
    wait_for(*after, lane);
  }
  if (reads(kind)) {
    Use& use = use_of(from);
    wait_for(use.written, lane);
    note_read(use, self);
  }
  if (writes(kind)) {
    Use& use = use_of(to);
    wait_for(use.written, lane);
    wait_for_reads(use, self);
    use.written = self;
  }
  const std::size_t count = waits_.size() - first_wait_;
  if (count > 1) {
    std::sort(waits_.begin() + static_cast<std::ptrdiff_t>(first_wait_), waits_.end());
  }
  // Made in its place: what is copied as soon as it is written stalls.
  Step& step = steps.emplace_back();
  step.kind = kind;
  step.from = from;
  step.to = to;
  step.first_dependency = static_cast<std::uint32_t>(first_wait_);
  step.num_dependencies = static_cast<std::uint32_t>(count);
}

}  // namespace tacos::lowering
