// SPDX-License-Identifier: MIT
#include "cli/terminal/progress.h"

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

Progress::Progress(std::string what, std::uint64_t transfers)
    : what_(std::move(what)),
      transfers_(transfers),
      terminal_(::isatty(STDERR_FILENO) == 1),
      next_(kFirstAfter) {}

Progress::~Progress() {
  if (shown_) {
    emit(stderr, "\r\033[K");
  }
}

void Progress::update(double share) {
  const double now = watch_.seconds();
  double due = next_;
  if (!terminal_ || now < due || !next_.compare_exchange_strong(due, now + kEvery)) {
    return;
  }
  shown_ = true;
  std::string more;
  if (transfers_ > 0) {
    const double rate = share * static_cast<double>(transfers_) / now;
    more += fmt::format(", {:.1f} M transfers/s", rate / 1e6);
  }
  if (share > 0.02) {
    more += fmt::format(", {:.0f} s left", now / share * (1 - share));
  }
  constexpr int kBarWidth = 20;
  const auto filled = static_cast<std::size_t>(share * kBarWidth);
  emit(stderr,
       "\r\033[K{} [{:<{}}] {:3.0f}%{}",
       what_,
       std::string(filled, '#'),
       kBarWidth,
       share * 100,
       more);
  (void)std::fflush(stderr);
}

}  // namespace tacos::cli
