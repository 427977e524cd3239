// SPDX-License-Identifier: MIT
// A program that does the same in many rounds, with other slots each: the steps of one round, and
// how rounds follow each other.
//
// A lane does not finish a round before it begins the next. It goes through its steps turn by turn;
// a step of lap l is left out of the first l turns, does its first round in the turn after these,
// and so on until it has done them all. So steps of several rounds are in flight in a lane at once,
// in the same order in every turn.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/collective.h"
#include "tacos/ids.h"
#include "tacos/program.h"

namespace tacos {

/// Where a step of the first round finds its chunk. In later rounds: in the input or output the
/// slot of that round's chunk, in scratch the next one of as many as `depth`, and then the first
/// again.
struct LoopSlot {
  Slot first;
  /// Of scratch.
  std::uint32_t depth = 1;

  friend bool operator==(const LoopSlot&, const LoopSlot&) = default;
};

/// A step of another lane of the same NPU that must be complete before: of the same round, or so
/// many rounds back, if there are so many.
struct LoopDependency {
  std::uint32_t lane = 0;
  std::uint32_t step = 0;
  std::uint32_t back = 0;

  friend auto operator<=>(const LoopDependency&, const LoopDependency&) = default;
};

struct LoopStep {
  StepKind kind = StepKind::kSend;
  LoopSlot from;
  LoopSlot to;
  std::uint32_t lap = 0;
  /// Among those of the NPU.
  std::uint32_t first_dependency = 0;
  std::uint32_t num_dependencies = 0;
};

struct LoopLane {
  LaneRole role = LaneRole::kLocal;
  /// Meaningless for local work.
  NodeId peer;
  std::uint32_t channel = 0;
  std::vector<LoopStep> steps;
};

struct NpuLoop {
  /// For all rounds.
  BufferSlots slots;
  std::vector<LoopLane> lanes;
  /// Of a step: by lane, and the nearest round first.
  std::vector<LoopDependency> dependencies;

  [[nodiscard]] std::span<const LoopDependency> dependencies_of(const LoopStep& step) const {
    return std::span(dependencies).subspan(step.first_dependency, step.num_dependencies);
  }
};

/// By NPU, also those that only pass on.
struct Loop {
  Collective collective;
  bool in_place = false;
  std::uint32_t rounds = 1;
  /// By how much the numbers of chunks, and of slots of input and output, grow from a round to the
  /// next.
  std::uint32_t stride = 1;
  std::vector<NpuLoop> npus;
};

/// A step of a lane in one of its rounds.
struct LoopTurn {
  std::uint32_t step = 0;
  std::uint32_t round = 0;
};
/// What a lane does, in order, if there are so many rounds. O(steps x (rounds + laps)).
[[nodiscard]] std::vector<LoopTurn> turns_of(const LoopLane& lane, std::uint32_t rounds);

/// The same with all rounds written out, of everybody or of one NPU.
[[nodiscard]] Program unroll(const Loop& loop);
[[nodiscard]] NpuProgram unroll(const Loop& loop, NodeId npu);
/// Only what the first round does.
[[nodiscard]] Program first_round(const Loop& loop);

}  // namespace tacos
