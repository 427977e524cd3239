// SPDX-License-Identifier: MIT
// Reads a log that is in step window by window, each as transfers in start order.
//
// All links that deliver in a window begin with it, and drop out one by one: in its step s exactly
// the links with more than s entries deliver. A window is put together in a table of steps x links
// that deliver, filled from the logs NPU by NPU, in parallel, and read step by step. O(1) for each
// transfer, and O(links) for each window and each range of it that is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tacos/units.h"

#include "base/parallel/threads.h"
#include "schedule/blocks/block.h"
#include "schedule/logs/log_pages.h"
#include "schedule/logs/log_part.h"

namespace tacos {

class StepWindow {
 public:
  explicit StepWindow(const LogPart& part);

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
  void set_runs(LogTime begin);
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
  const WindowLog& log_;
  std::size_t done_ = 0;
  /// Positions of the in-links.
  std::vector<std::uint32_t> by_id_;
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
