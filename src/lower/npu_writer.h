// SPDX-License-Identifier: MIT
// Writes the program of one NPU after another, each step by step, in an order in which it could be
// run.
//
// A step waits for what its data need: a read for the last write of its slot, a write for that and
// for all reads since. What a lane does itself comes in order, and of several steps of another lane
// the last one stands for all.
//
// O(accesses) in all, as a write forgets the reads before it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/program.h"

#include "lower/npu_notes.h"

namespace tacos::lowering {

class NpuWriter {
 public:
  /// Another NPU, with lanes that will have so many steps.
  void begin(BufferSlots slots, std::span<const NpuNotes::NotedLane> lanes);
  [[nodiscard]] NpuProgram take();

  /// Waits for what was `awaited` too, if anything.
  void send(std::uint32_t lane, Slot from, const Dependency* awaited) {
    add(lane, StepKind::kSend, from, {}, awaited);
  }
  /// Once another step is complete.
  void grant(std::uint32_t lane, const Dependency* after) {
    add(lane, StepKind::kGrant, {}, {}, after);
  }
  void await(std::uint32_t lane) { add(lane, StepKind::kAwait, {}, {}); }
  void receive(std::uint32_t lane, Slot to) { add(lane, StepKind::kReceive, {}, to); }
  void receive_reduce(std::uint32_t lane, Slot from, Slot to) {
    add(lane, StepKind::kReceiveReduce, from, to);
  }
  void copy(Slot from, Slot to) { add(local(), StepKind::kCopy, from, to); }
  void reduce(Slot from, Slot to) { add(local(), StepKind::kReduce, from, to); }

  /// A slot that nobody uses; those that were given back first.
  [[nodiscard]] Slot take_scratch();
  /// Whoever takes it next waits for those that used it.
  void give_back(Slot slot) { free_.push_back(slot.index); }
  /// Scratch that is used from a given number on.
  void reserve_scratch(std::uint32_t slots) { program_.slots.scratch = slots; }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// Who used a slot last: the lane that wrote it, or kNone, and the first of those that read it
  /// since.
  struct Use {
    Dependency written{.lane = kNone, .step = 0};
    std::uint32_t read = kNone;
  };
  /// One of a list.
  struct Read {
    Dependency by;
    std::uint32_t next = kNone;
  };

  [[nodiscard]] std::uint32_t local();
  [[nodiscard]] Use& use_of(Slot slot);
  void add(
      std::uint32_t lane, StepKind kind, Slot from, Slot to, const Dependency* after = nullptr);
  void wait_for(const Dependency& other, std::uint32_t lane);
  void note_read(Use& use, const Dependency& by);
  /// Waits for all reads but one's own, and forgets them.
  void wait_for_reads(Use& use, const Dependency& self);

  NpuProgram program_;
  std::uint32_t local_ = kNone;
  /// By buffer and index.
  std::vector<Use> uses_[3];
  std::vector<std::uint32_t> free_;
  std::vector<Read> reads_;
  /// Of `reads_`: the first that is in no list.
  std::uint32_t spare_read_ = kNone;
  /// Of all steps; those of the step that is being added come last.
  std::vector<Dependency> waits_;
  std::size_t first_wait_ = 0;
};

}  // namespace tacos::lowering
