// SPDX-License-Identifier: MIT
// Writes the program of one NPU, step by step, in an order in which it could be run.
//
// A step waits for what its data need: a read for the last write of its slot, a write for that and
// for all reads since. What a lane does itself comes in order, and of several steps of another lane
// the last one stands for all.
//
// O(accesses) in all, as a write forgets the reads before it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/program.h"

namespace tacos::lowering {

class NpuWriter {
 public:
  explicit NpuWriter(BufferSlots slots) { program_.slots = slots; }

  /// The lane to or from a peer on a channel, made where there is none yet.
  [[nodiscard]] std::uint32_t lane(LaneRole role, NodeId peer, std::uint32_t channel);

  /// Waits for what was `awaited` too, if anything.
  void send(std::uint32_t lane, Slot from, const std::optional<Dependency>& awaited = {}) {
    add(lane, {StepKind::kSend, from, {}, 0, 0}, awaited);
  }
  /// Once another step is complete.
  void grant(std::uint32_t lane, const Dependency& after) {
    add(lane, {StepKind::kGrant, {}, {}, 0, 0}, after);
  }
  [[nodiscard]] Dependency await(std::uint32_t lane) {
    add(lane, {StepKind::kAwait, {}, {}, 0, 0});
    return last(lane);
  }
  /// The last step of a lane that has some.
  [[nodiscard]] Dependency last(std::uint32_t lane) const {
    return {.lane = lane,
            .step = static_cast<std::uint32_t>(program_.lanes[lane].steps.size()) - 1};
  }
  void receive(std::uint32_t lane, Slot to) { add(lane, {StepKind::kReceive, {}, to, 0, 0}); }
  void receive_reduce(std::uint32_t lane, Slot from, Slot to) {
    add(lane, {StepKind::kReceiveReduce, from, to, 0, 0});
  }
  void copy(Slot from, Slot to) { add(local(), {StepKind::kCopy, from, to, 0, 0}); }
  void reduce(Slot from, Slot to) { add(local(), {StepKind::kReduce, from, to, 0, 0}); }

  /// A slot that nobody uses; those that were given back first.
  [[nodiscard]] Slot take_scratch();
  /// Whoever takes it next waits for those that used it.
  void give_back(Slot slot) { free_.push_back(slot.index); }
  /// Scratch that is used from a given number on.
  void reserve_scratch(std::uint32_t slots) { program_.slots.scratch = slots; }

  [[nodiscard]] std::vector<Lane>& lanes() { return program_.lanes; }
  [[nodiscard]] NpuProgram take() && { return std::move(program_); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// Who used a slot last: the lane that wrote it, or kNone, and the first of those that read it
  /// since. Small, as there is one for every slot of every NPU.
  struct Use {
    Dependency written{.lane = kNone, .step = 0};
    std::uint32_t read = kNone;
  };
  /// One of a list.
  struct Read {
    Dependency by;
    std::uint32_t next = kNone;
  };

  [[nodiscard]] std::uint32_t local() { return lane(LaneRole::kLocal, NodeId(0), 0); }
  [[nodiscard]] Use& use_of(Slot slot);
  void add(std::uint32_t lane, Step step, const std::optional<Dependency>& after = {});
  void wait_for(const Dependency& other, std::uint32_t lane);
  void note_read(Use& use, const Dependency& by);
  /// Waits for all reads but one's own, and forgets them.
  void wait_for_reads(Use& use, const Dependency& self);

  NpuProgram program_;
  /// By buffer and index.
  std::vector<Use> uses_[3];
  std::vector<std::uint32_t> free_;
  std::vector<Read> reads_;
  /// Of `reads_`: the first that is in no list.
  std::uint32_t spare_read_ = kNone;
  /// Of the step that is being added.
  std::vector<Dependency> waits_;
};

}  // namespace tacos::lowering
