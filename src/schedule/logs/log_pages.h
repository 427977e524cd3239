// SPDX-License-Identifier: MIT
// The windows of a log, to be turned like pages: who delivered how many, and what came to each NPU.
//
// A log that a team holds is read by its leader, who asks the others for their shares of a window
// and puts them together: it never holds more than one window of all NPUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "schedule/logs/step_log.h"

namespace tacos {

class LogPages {
 public:
  LogPages() = default;
  LogPages(const LogPages&) = delete;
  LogPages& operator=(const LogPages&) = delete;
  virtual ~LogPages() = default;

  /// Goes to a window; quick from its neighbours.
  virtual void turn_to(std::size_t window) = 0;
  /// Per in-link: how many it delivers in the window.
  [[nodiscard]] std::span<const std::uint32_t> counts() const { return counts_; }
  /// What comes to an NPU in the window, in its order; `Id` is what the log's narrow() says.
  template <class Id>
  [[nodiscard]] const Id* entries(std::uint32_t npu) const {
    return static_cast<const Id*>(entries_) + first_[npu];
  }

 protected:
  std::vector<std::uint32_t> counts_;
  /// Per NPU: where in `entries_` those of the window begin.
  std::vector<std::size_t> first_;
  const void* entries_ = nullptr;
};

/// The pages of all NPUs; of a team's log only the leader opens them, in read_together.
[[nodiscard]] std::unique_ptr<LogPages> open_pages(const StepLog& log);

/// Calls `read` where the pages of the logs may be opened: in the only process that has them, or in
/// the leader of the team that does while the others, who call this too, help.
void read_together(std::span<const SharedLog> logs, const std::function<void()>& read);

}  // namespace tacos
