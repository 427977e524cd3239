// SPDX-License-Identifier: MIT
#include "lower/npu_writer.h"

#include <algorithm>
#include <utility>

namespace tacos::lowering {

std::uint32_t NpuWriter::lane(LaneRole role, NodeId peer, std::uint32_t channel) {
  // There are few, and those that are used often were made early.
  const auto found =
      std::find_if(program_.lanes.begin(), program_.lanes.end(), [&](const Lane& lane) {
        return lane.role == role && lane.peer == peer && lane.channel == channel;
      });
  if (found != program_.lanes.end()) {
    return static_cast<std::uint32_t>(found - program_.lanes.begin());
  }
  program_.lanes.push_back({.role = role, .peer = peer, .channel = channel, .steps = {}});
  return static_cast<std::uint32_t>(program_.lanes.size()) - 1;
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
  const auto same = std::find_if(waits_.begin(), waits_.end(), [&](const Dependency& wait) {
    return wait.lane == other.lane;
  });
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

void NpuWriter::add(std::uint32_t lane, Step step, const std::optional<Dependency>& after) {
  Lane& to = program_.lanes[lane];
  const Dependency self{.lane = lane, .step = static_cast<std::uint32_t>(to.steps.size())};
  waits_.clear();
  if (after) {
    wait_for(*after, lane);
  }
  if (reads(step.kind)) {
    Use& use = use_of(step.from);
    wait_for(use.written, lane);
    note_read(use, self);
  }
  if (writes(step.kind)) {
    Use& use = use_of(step.to);
    wait_for(use.written, lane);
    wait_for_reads(use, self);
    use.written = self;
  }
  if (waits_.size() > 1) {
    std::sort(waits_.begin(), waits_.end());
  }
  step.first_dependency = static_cast<std::uint32_t>(program_.dependencies.size());
  step.num_dependencies = static_cast<std::uint32_t>(waits_.size());
  program_.dependencies.insert(program_.dependencies.end(), waits_.begin(), waits_.end());
  to.steps.push_back(step);
}

}  // namespace tacos::lowering
