// SPDX-License-Identifier: MIT
// Makes the program of an NPU of what it does in time order.
//
// A chunk is kept where the NPU must have it in the end; a chunk that only passes through, or a sum
// that somebody else completes, is in scratch, from when it comes until it is sent for the last
// time.
//
// O(notes of the NPU, and chunks that it ends with); 8 bytes for each chunk, used NPU after NPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/collective.h"
#include "tacos/program.h"

#include "base/assert.h"
#include "base/csr.h"
#include "lower/npu_notes.h"
#include "lower/npu_writer.h"

namespace tacos::lowering {

/// What the NPU has of a chunk.
class Place {
 public:
  /// Whether somebody has looked.
  [[nodiscard]] bool known() const { return at_ != 0; }
  /// Where it is, if it is there.
  [[nodiscard]] std::optional<Slot> slot() const {
    return at_ <= kNowhere ? std::nullopt
                           : std::optional(Slot{static_cast<Buffer>((at_ >> kIndexBits) - 1),
                                                at_ & ((1U << kIndexBits) - 1)});
  }
  void put(Slot slot) {
    TACOS_ASSERT(slot.index < 1U << kIndexBits, "collectives have fewer chunks");
    at_ = (static_cast<std::uint32_t>(slot.buffer) + 1) << kIndexBits | slot.index;
  }
  void clear() { at_ = kNowhere; }

  /// How often it will still be sent from here.
  std::uint32_t sends = 0;

 private:
  static constexpr unsigned kIndexBits = 30;
  static constexpr std::uint32_t kNowhere = 1;
  std::uint32_t at_ = 0;
};

/// Whether scratch that is free is used again.
enum class Scratch { kReused, kOnce };

class NpuLowering {
 public:
  NpuLowering(std::uint32_t num_npus, const Collective& collective, bool in_place, Scratch scratch);

  [[nodiscard]] NpuProgram write(NodeId npu, const NpuNotes& notes);

 private:
  /// What the NPU has of a chunk, at first what it starts with.
  [[nodiscard]] Place& place(ChunkId chunk);
  void forget_places(const NpuNotes& notes);
  void send(std::uint32_t lane, ChunkId chunk, const Dependency* awaited);
  void receive(std::uint32_t lane, ChunkId chunk, bool sum);
  /// What is left to be done where everything has arrived.
  void finish();
  void bring_home(ChunkId chunk);
  /// In the order of participants, so that sums are equal bit for bit everywhere.
  void add_contributions();

  [[nodiscard]] bool takes_part() const { return self_ != kNobody; }
  [[nodiscard]] bool ends_with(ChunkId chunk) const {
    return takes_part() && (all_end_with_all_ || collective_.ends_with(chunk, self_));
  }
  /// Whether the NPU adds gathered contributions.
  [[nodiscard]] bool adds() const {
    return gathered_ && takes_part() && collective_.ends_with(ChunkId(0), self_);
  }
  /// Calls visit(chunk) for those that the NPU ends with, in their order.
  template <class Visit>
  void for_each_result(const Visit& visit) const;
  /// Where the NPU keeps a chunk that comes.
  [[nodiscard]] Slot home(ChunkId chunk, const Place& at);
  /// Gives scratch back that is not sent from any more. Something else may still come for it, which
  /// then has no use.
  void let_go(ChunkId chunk, Place& at);

  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  const Collective& collective_;
  bool in_place_;
  Scratch scratch_;
  bool gathered_;
  /// Of those who take part.
  bool all_end_with_all_;
  /// By NPU: its number among the participants.
  std::vector<std::uint32_t> participant_;
  /// By participant, where not everybody ends with everything: the chunks that it does.
  Csr<std::uint32_t> ends_;
  // Of the NPU at hand.
  std::uint32_t self_ = kNobody;
  NpuWriter writer_;
  std::vector<Place> places_;
};

}  // namespace tacos::lowering
