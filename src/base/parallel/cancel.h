// SPDX-License-Identifier: MIT
// Stopping work that nobody wants any more, wherever it is.
//
// What can be stopped is deep inside loops, many calls below the options that have a token. So a
// call that was given one makes it known to its thread, and a ThreadPool to those that help; loops
// poll, and what unwinds is an exception that no user of the library sees. Without a token a poll
// reads one pointer. Nothing is decided by it but to give up, so results never depend on it.
#pragma once

#include <cstdint>
#include <stop_token>
#include <utility>

#include "tacos/error.h"

namespace tacos {

/// Thrown by a poll, caught where the token came in.
struct Cancelled {};

/// While it lives, polls of this thread look at the token.
class CancelScope {
 public:
  /// A token that nobody can use leaves in place what was there; must outlive the scope.
  explicit CancelScope(const std::stop_token& token);
  /// What polls of another thread look at, or null.
  explicit CancelScope(const std::stop_token* token);
  CancelScope(const CancelScope&) = delete;
  CancelScope& operator=(const CancelScope&) = delete;
  ~CancelScope();

  /// What polls of this thread look at, or null.
  [[nodiscard]] static const std::stop_token* current();

 private:
  const std::stop_token* before_;
};

/// Throws when the work of this thread is not wanted any more.
void check_cancel();

/// For loops whose rounds are short: looks every so many of them.
class CancelPoll {
 public:
  void operator()() {
    constexpr std::uint32_t kEvery = 1024;
    if (++rounds_ % kEvery == 0) {
      check_cancel();
    }
  }

 private:
  std::uint32_t rounds_ = 0;
};

[[nodiscard]] inline Error cancelled_error() {
  return {.code = ErrorCode::kCancelled, .message = "cancelled before it was done", .where = {}};
}

/// What `work` returns, a Result; an error when the token stopped it. Inside other work that can be
/// stopped, and without a token of its own, it stops with that.
template <class Work>
[[nodiscard]] auto cancellable(const std::stop_token& token, Work&& work) -> decltype(work()) {
  if (!token.stop_possible()) {
    return std::forward<Work>(work)();
  }
  const CancelScope scope(token);
  try {
    check_cancel();
    return std::forward<Work>(work)();
  } catch (const Cancelled&) {
    return cancelled_error();
  }
}

}  // namespace tacos
