// SPDX-License-Identifier: MIT
// What an executor is inside: the lanes of a script, and how far each has come.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tacos/execute.h"

#include "execute/layout.h"
#include "execute/memory.h"
#include "execute/reduce.h"
#include "execute/script.h"

namespace tacos::execution {

class Machine {
 public:
  Machine(Script script, std::unique_ptr<Connection> connection, ExecuteOptions options);

  [[nodiscard]] Status bind(std::size_t count, ElementType type, ReduceOp op);
  [[nodiscard]] std::size_t buffer_bytes(Buffer buffer) const {
    return script_.slots_of(buffer) / script_.cuts * layout_.unit * layout_.element;
  }
  void start(const void* input, void* output);
  /// Whether all is done.
  [[nodiscard]] Result<bool> advance();
  [[nodiscard]] Status run(const void* input, void* output);
  void pause() const;
  [[nodiscard]] const ExecuteStats& stats() const { return stats_; }

 private:
  using Clock = std::chrono::steady_clock;
  /// A step for the buffers at hand.
  struct BoundStep {
    std::size_t from = 0;
    std::size_t to = 0;
    std::size_t bytes = 0;
  };
  struct LaneState {
    /// Steps that are posted, of these those whose message is through, and of these those complete.
    std::uint32_t next = 0;
    std::uint32_t arrived = 0;
    std::uint32_t head = 0;
    /// So many steps may be posted and not complete.
    std::uint32_t window = 0;
    std::size_t staging = 0;
    bool queued = false;
  };

  [[nodiscard]] std::size_t offset(Slot slot) const {
    return layout_.offset(slot, script_.slots_of(slot.buffer), options_.positions);
  }
  [[nodiscard]] std::uint32_t window(const ScriptLane& lane) const;
  [[nodiscard]] std::byte* at(Buffer buffer, std::size_t place) const {
    return base_[static_cast<std::size_t>(buffer)] + place;
  }
  [[nodiscard]] std::byte* from(std::uint32_t step) const {
    return at(script_.steps[step].from.buffer, bound_[step].from);
  }
  [[nodiscard]] std::byte* to(std::uint32_t step) const {
    return at(script_.steps[step].to.buffer, bound_[step].to);
  }
  [[nodiscard]] std::byte* staging_slot(const LaneState& state, std::uint32_t step) const {
    return staging_.data() + state.staging + step % state.window * layout_.stride();
  }

  void wake(std::uint32_t lane);
  void complete(std::uint32_t step);
  void go_on(std::uint32_t lane);
  void work(std::uint32_t lane);
  void post_sends(std::uint32_t lane);
  /// Forced, also messages whose place is not free.
  void post_receives(std::uint32_t lane, bool forced);
  /// Whether the next message may be received where it belongs.
  [[nodiscard]] bool place_is_free(std::uint32_t lane) const;
  /// What is empty is through without a message.
  void skip_empty(std::uint32_t lane);
  void arrive(std::uint32_t lane);
  /// Completes what can be; whether something was, so that more may be posted.
  bool settle(std::uint32_t lane);
  void unstage(std::uint32_t step, const std::byte* message);
  [[nodiscard]] Status note_idle();
  void force_receives();
  void finish();
  [[nodiscard]] std::string who_waits() const;

  Script script_;
  std::unique_ptr<Connection> connection_;
  ExecuteOptions options_;
  Layout layout_;
  Reduction reduction_;
  /// By step: how many others must still be complete before; what it moves; whether its message
  /// was received elsewhere.
  std::vector<std::uint32_t> missing_;
  std::vector<BoundStep> bound_;
  std::vector<std::uint8_t> staged_;
  std::vector<LaneState> lanes_;
  std::vector<std::uint32_t> lane_of_end_;
  /// Lanes that may be able to go on.
  std::vector<std::uint32_t> ready_;
  Memory scratch_;
  Memory staging_;
  std::byte* base_[3] = {};
  /// What messages without data consist of.
  std::byte credit_{};
  std::size_t remaining_ = 0;
  /// Calls in vain since something moved, and since when.
  std::uint32_t idle_ = 0;
  Clock::time_point idle_since_;
  bool is_bound_ = false;
  bool finished_ = true;
  bool failed_ = false;
  ExecuteStats stats_;
};

}  // namespace tacos::execution
