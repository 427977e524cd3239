// SPDX-License-Identifier: MIT
// The program of one NPU as an executor wants it: steps in one array, with who waits for whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tacos/execute.h"
#include "tacos/loop.h"
#include "tacos/program.h"

#include "execute/layout.h"

namespace tacos::execution {

struct ScriptStep {
  StepKind kind = StepKind::kSend;
  Slot from;
  Slot to;
  /// Which cut of a part it moves.
  std::uint32_t cut = 0;
  std::uint32_t lane = 0;
};

struct ScriptLane {
  LaneRole role = LaneRole::kLocal;
  NodeId peer;
  std::uint32_t channel = 0;
  /// Among the ends of the connection; meaningless for local work.
  std::uint32_t end = 0;
  /// Among all steps.
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct Script {
  BufferSlots slots;
  std::vector<ScriptStep> steps;
  std::vector<ScriptLane> lanes;
  /// How many other steps each waits for.
  std::vector<std::uint32_t> waits;
  /// Those that wait for a step: numbers of steps, and where those of each begin.
  std::vector<std::uint32_t> waiters;
  std::vector<std::uint32_t> first_waiter;
  /// Slots that hold complete sums at the end.
  std::vector<Slot> sums;
  std::uint32_t participants = 0;
  /// Whether every participant has a part of its own, or all one buffer.
  bool parts = false;
  std::uint32_t cuts = 1;

  [[nodiscard]] std::span<const std::uint32_t> waiting_for(std::uint32_t step) const {
    return std::span(waiters).subspan(first_waiter[step],
                                      first_waiter[step + 1] - first_waiter[step]);
  }
  [[nodiscard]] std::size_t slots_of(Buffer buffer) const {
    return buffer == Buffer::kInput    ? slots.input
           : buffer == Buffer::kOutput ? slots.output
                                       : slots.scratch;
  }
};

/// Fails when the program cannot be run to its end.
[[nodiscard]] Result<Script> make_script(const Program& program, NodeId npu);
/// With all rounds written out, for this NPU alone.
[[nodiscard]] Result<Script> make_script(const Loop& loop, NodeId npu);

/// What the script needs of a transport, in the order of `end`.
[[nodiscard]] std::vector<LaneEnd> ends_of(const Script& script, const ExecuteOptions& options);

}  // namespace tacos::execution
