// SPDX-License-Identifier: MIT
#include "cli/progress.h"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace tacos::cli {
namespace {

// Short work needs no progress; long work not more often than the eye follows.
constexpr double kFirstAfter = 0.5;
constexpr double kEvery = 0.1;

}  // namespace

Progress::Progress(std::string what)
    : what_(std::move(what)), terminal_(::isatty(STDERR_FILENO) == 1), next_(kFirstAfter) {}

Progress::~Progress() {
  if (shown_) {
    fmt::print(stderr, "\r\033[K");
  }
}

void Progress::update(double share) {
  const double now = watch_.seconds();
  double due = next_;
  if (!terminal_ || now < due || !next_.compare_exchange_strong(due, now + kEvery)) {
    return;
  }
  shown_ = true;
  const std::string left =
      share > 0.02 ? fmt::format(", {:.0f} s left", now / share * (1 - share)) : std::string();
  fmt::print(stderr, "\r\033[K{} {:3.0f}%{}", what_, share * 100, left);
  (void)std::fflush(stderr);
}

}  // namespace tacos::cli
