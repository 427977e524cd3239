// SPDX-License-Identifier: MIT
// What each NPU does, without times: a schedule as runtimes want it.
//
// An NPU has lanes. A lane is one FIFO to or from one peer on one channel, or local work, and does
// its steps one after the other; the i-th message that a lane sends is the i-th that the lane at
// the other end receives. Steps of different lanes wait for each other only where they say so.
//
// Steps work on slots, which are chunk numbers and not bytes, so that one program serves every
// size: bound to a buffer of n elements, slot c of C covers elements [c n / C, (c + 1) n / C).
// Nothing is padded, and slots may be empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tacos/collective.h"
#include "tacos/ids.h"

namespace tacos {

enum class Buffer : std::uint8_t { kInput, kOutput, kScratch };

/// Room for one chunk in a buffer of an NPU.
struct Slot {
  Buffer buffer = Buffer::kInput;
  std::uint32_t index = 0;

  friend auto operator<=>(const Slot&, const Slot&) = default;
};

enum class StepKind : std::uint8_t {
  kSend,           ///< `from`, as it is when the step begins
  kReceive,        ///< into `to`
  kReceiveReduce,  ///< `to` becomes the sum of `from` and what comes
  kCopy,           ///< `from` into `to`
  kReduce,         ///< adds `from` to `to`
  kGrant,          ///< a message without data: the peer may go on
  kAwait,          ///< for such a message
};

[[nodiscard]] constexpr bool is_credit(StepKind kind) {
  return kind == StepKind::kGrant || kind == StepKind::kAwait;
}
/// Whether a step of this kind uses its `from`.
[[nodiscard]] constexpr bool reads(StepKind kind) {
  return kind != StepKind::kReceive && !is_credit(kind);
}
/// Whether a step of this kind changes its `to`.
[[nodiscard]] constexpr bool writes(StepKind kind) {
  return kind != StepKind::kSend && !is_credit(kind);
}

/// A step of another lane of the same NPU that must be complete before.
struct Dependency {
  std::uint32_t lane = 0;
  std::uint32_t step = 0;

  friend auto operator<=>(const Dependency&, const Dependency&) = default;
};

struct Step {
  StepKind kind = StepKind::kSend;
  Slot from;
  Slot to;
  /// Among those of the NPU.
  std::uint32_t first_dependency = 0;
  std::uint32_t num_dependencies = 0;
};

enum class LaneRole : std::uint8_t { kSend, kReceive, kLocal };

struct Lane {
  LaneRole role = LaneRole::kLocal;
  /// Meaningless for local work.
  NodeId peer;
  std::uint32_t channel = 0;
  std::vector<Step> steps;
};

/// Slots in each buffer of an NPU.
struct BufferSlots {
  std::uint32_t input = 0;
  std::uint32_t output = 0;
  std::uint32_t scratch = 0;

  friend bool operator==(const BufferSlots&, const BufferSlots&) = default;
};

struct NpuProgram {
  BufferSlots slots;
  std::vector<Lane> lanes;
  std::vector<Dependency> dependencies;

  [[nodiscard]] std::span<const Dependency> dependencies_of(const Step& step) const {
    return std::span(dependencies).subspan(step.first_dependency, step.num_dependencies);
  }
};

/// By NPU, also those that only pass on.
struct Program {
  Collective collective;
  /// Whether input and output are the same memory, by NCCL's conventions: where a participant's
  /// part is of the whole buffer, it is at its offset there.
  bool in_place = false;
  std::vector<NpuProgram> npus;
};

/// Input and output of a participant; no scratch. In place, what the two share is counted, and
/// named, as output, but as input where that is the whole buffer and the output a part of it.
[[nodiscard]] BufferSlots buffer_slots(const Collective& collective,
                                       std::uint32_t participant,
                                       bool in_place);
/// Where a participant has a chunk that it starts with.
[[nodiscard]] Slot input_slot(const Collective& collective,
                              std::uint32_t participant,
                              ChunkId chunk,
                              bool in_place);
/// Where a participant must have a chunk that it ends with, of the direct collective.
[[nodiscard]] Slot output_slot(const Collective& collective,
                               std::uint32_t participant,
                               ChunkId chunk,
                               bool in_place);
/// Whether the collective may be done in place: an All-to-All may not, nor may a custom one.
[[nodiscard]] bool can_be_in_place(const Collective& collective);

}  // namespace tacos
