// SPDX-License-Identifier: MIT
// The windows of a log, to be turned like pages: who delivered how many, who paused, and what came
// to each NPU. Unless the log is in step, several short windows are one page.
//
// A log that a team holds is read by its leader, who asks the others for their shares of a page and
// puts them together: it never holds more than a few pages of all NPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "schedule/logs/window_log.h"

namespace tacos {

class LogPages {
 public:
  explicit LogPages(const WindowLog& log);
  LogPages(const LogPages&) = delete;
  LogPages& operator=(const LogPages&) = delete;
  virtual ~LogPages() = default;

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  /// When the first window of a page begins, and what links did in all of them.
  [[nodiscard]] LogTime begin(std::size_t page) const;
  [[nodiscard]] WindowLog::Totals totals(std::size_t page) const;

  /// Goes to a page; quick from its neighbours.
  virtual void turn_to(std::size_t page) = 0;
  /// Per in-link: how many it delivers in the page.
  [[nodiscard]] std::span<const std::uint32_t> counts() const { return counts_; }
  /// Pauses of in-links before entries of the page, in order of position and entry.
  [[nodiscard]] std::span<const Pause> pauses() const { return pauses_; }
  /// Unless the log is in step, per in-link: when it could have started again after its last
  /// transfer of all; once the last page has been turned to.
  [[nodiscard]] std::span<const LogTime> free() const { return free_; }
  /// What comes to an NPU in the page, in its order; `Id` is what the log's narrow() says.
  template <class Id>
  [[nodiscard]] const Id* entries(std::uint32_t npu) const {
    return static_cast<const Id*>(entries_) + first_[npu];
  }

 protected:
  /// The windows of a page.
  [[nodiscard]] std::size_t first_window(std::size_t page) const {
    return page == 0 ? 0 : ends_[page - 1];
  }
  [[nodiscard]] std::size_t end_window(std::size_t page) const { return ends_[page]; }

  const WindowLog& log_;
  std::vector<std::uint32_t> counts_;
  std::vector<Pause> pauses_;
  std::vector<LogTime> free_;
  /// Per NPU: where in `entries_` those of the page begin.
  std::vector<std::size_t> first_;
  const void* entries_ = nullptr;

 private:
  /// Per page: the window after its last.
  std::vector<std::size_t> ends_;
};

/// Of the NPUs whose entries are here; both NPUs and in-links are counted from the first of those.
[[nodiscard]] std::unique_ptr<LogPages> open_own_pages(const WindowLog& log);
/// The pages of all NPUs; of a team's log only the leader opens them, in read_together.
[[nodiscard]] std::unique_ptr<LogPages> open_pages(const WindowLog& log);

/// Calls `read` where the pages of the logs may be opened: in the only process that has them, or in
/// the leader of the team that does while the others, who call this too, help.
void read_together(std::span<const SharedLog> logs, const std::function<void()>& read);

}  // namespace tacos
