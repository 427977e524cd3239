// SPDX-License-Identifier: MIT
// A schedule that is ready to run on the processes of a team, for programs that call collectives.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "tacos/bundle.h"
#include "tacos/execute.h"

#include "base/parallel/team.h"

namespace tacos {

class LoadedSchedule {
 public:
  struct Options {
    /// By rank: the NPU that it is; empty: in order.
    std::span<const NodeId> order = {};
    /// Ranks of programs may come late, and that is no failure.
    std::chrono::milliseconds limit{600'000};
  };

  /// By all ranks, all of which get the error if one fails. The first verifies.
  [[nodiscard]] static Result<LoadedSchedule> load(const std::string& file,
                                                   Team& team,
                                                   Transport& transport,
                                                   const Options& options);
  /// The same of one that was verified already.
  [[nodiscard]] static Result<LoadedSchedule> load(const Bundle& bundle,
                                                   Team& team,
                                                   Transport& transport,
                                                   const Options& options);

  [[nodiscard]] bool reduces() const { return reduces_; }
  [[nodiscard]] bool can_be_in_place() const { return in_place_.has_value(); }

  struct Call {
    const void* input = nullptr;
    void* output = nullptr;
    /// As Executor::bind has it.
    std::size_t count = 0;
    ElementType type = ElementType::kUint8;
    ReduceOp op = ReduceOp::kSum;
    /// Whether input and output are one buffer; `output` is it. A rank may be in place while others
    /// are not: their messages are the same.
    bool in_place = false;
  };
  [[nodiscard]] Status run(const Call& call);
  /// The same bit by bit: one start, and calls until one says that all is done. Between two of them
  /// others may have the core.
  [[nodiscard]] Status start(const Call& call);
  [[nodiscard]] Result<bool> advance() { return running().advance(); }
  void pause() { running().pause(); }

 private:
  /// An executor, and what it is bound to.
  struct Ready {
    Executor executor;
    std::size_t count = 0;
    std::optional<ElementType> type = std::nullopt;
    ReduceOp op = ReduceOp::kSum;
  };

  LoadedSchedule() = default;
  [[nodiscard]] static Result<Ready> prepare(const Bundle& bundle,
                                             Team& team,
                                             Transport& transport,
                                             const Options& options,
                                             bool in_place);
  [[nodiscard]] Status prepare_all(const Bundle& bundle,
                                   Team& team,
                                   Transport& transport,
                                   const Options& options);
  [[nodiscard]] Executor& running() { return (runs_in_place_ ? in_place_ : apart_)->executor; }

  bool reduces_ = false;
  std::optional<Ready> apart_;
  std::optional<Ready> in_place_;
  /// Which of them was started last.
  bool runs_in_place_ = false;
};

}  // namespace tacos
