// SPDX-License-Identifier: MIT
// Reads a StepLog window by window, each as transfers in start order.
//
// A window is put together in a table of steps x links that deliver, filled from the logs NPU by
// NPU, in parallel, and read step by step. O(1) for each transfer, and O(links) for each window and
// each range of it that is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tacos/schedule.h"
#include "tacos/units.h"

#include "base/parallel/threads.h"
#include "schedule/blocks/block.h"
#include "schedule/logs/log_pages.h"
#include "schedule/logs/step_log.h"

namespace tacos {

enum class StepOrder : std::uint8_t { kForwards, kBackwards };

/// A log read as a schedule: the steps one after the other, or from the last to the first.
///
/// Backwards is time reversal, which is exact where all transfers take one step: a transfer in step
/// s becomes one in step S-1-s, and what left after it came now comes before it leaves.
struct LogPart {
  SharedLog log;
  StepOrder order = StepOrder::kForwards;
  Op op = Op::kCopy;
  /// When its first step starts.
  Ticks begin;
  /// How long a step takes.
  Ticks step;

  [[nodiscard]] Ticks start(std::uint32_t log_step) const {
    const std::uint32_t last = log->end_step() - 1;
    const std::uint32_t turn = order == StepOrder::kForwards ? log_step : last - log_step;
    return {begin.ps + step.ps * turn};
  }
  [[nodiscard]] Ticks end() const { return begin + step * log->end_step(); }
};

class LogWindow {
 public:
  explicit LogWindow(const LogPart& part);

  /// Goes to the next window, in the order of the part; false at the end.
  bool next(ThreadPool& pool);
  /// How many transfers the window has.
  [[nodiscard]] std::size_t size() const { return runs_.empty() ? 0 : runs_.back().end; }
  /// Appends the transfers [from, to) of the window; from any thread.
  template <class Batch>
  void append_to(Batch& batch, std::size_t from, std::size_t to) const;

 private:
  /// Transfers that start together; they begin where the run before ends.
  struct Run {
    Ticks start;
    std::size_t end = 0;
    /// Of the window.
    std::uint32_t step = 0;
  };

  void set_columns();
  void set_runs(const StepLog::Window& window);
  template <class Id>
  void fill(std::vector<Id>& table, ThreadPool& pool);
  template <class Id>
  void fill_npu(std::uint32_t npu, std::vector<Id>& table);
  template <class Id, class Batch>
  void append_run(const std::vector<Id>& table,
                  const Run& run,
                  std::size_t skip,
                  std::size_t count,
                  Batch& batch) const;

  const LogPart& part_;
  const StepLog& log_;
  std::size_t done_ = 0;
  /// Per link id: its position among the in-links.
  std::vector<std::uint32_t> position_;
  std::unique_ptr<LogPages> pages_;
  /// Per in-link: its column in the table.
  std::vector<std::uint32_t> column_;
  /// Per column: its link, and how many it delivers.
  std::vector<LinkId> column_link_;
  std::vector<std::uint32_t> column_count_;
  /// Per step of the window: how many deliver.
  std::vector<std::uint32_t> delivering_;
  std::vector<std::uint16_t> narrow_table_;
  std::vector<std::uint32_t> wide_table_;
  std::vector<Run> runs_;
};

}  // namespace tacos
