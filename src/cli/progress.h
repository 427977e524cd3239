// SPDX-License-Identifier: MIT
// A line that says how far the work is: on a terminal only, and gone when the work is done.
#pragma once

#include <atomic>
#include <string>

#include "cli/command.h"

namespace tacos::cli {

class Progress {
 public:
  explicit Progress(std::string what);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  /// From any thread; prints a few times a second at most.
  void update(double share);

 private:
  std::string what_;
  bool terminal_;
  Stopwatch watch_;
  std::atomic<double> next_;
  std::atomic<bool> shown_ = false;
};

}  // namespace tacos::cli
