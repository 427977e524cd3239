// SPDX-License-Identifier: MIT
// A line that says how far the work is: on a terminal only, and gone when the work is done.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "cli/command.h"

namespace tacos::cli {

class Progress {
 public:
  /// `transfers`, when known, is how many the whole work has: the line then says how many a second.
  explicit Progress(std::string what, std::uint64_t transfers = 0);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// From any thread; prints a few times a second at most.
  void update(double share);

 private:
  std::string what_;
  std::uint64_t transfers_;
  bool terminal_;
  Stopwatch watch_;
  std::atomic<double> next_;
  std::atomic<bool> shown_ = false;
};

}  // namespace tacos::cli
