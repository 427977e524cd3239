// SPDX-License-Identifier: MIT
// How long something took, for reports; nothing is decided by it.
#pragma once

#include <chrono>

namespace tacos {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tacos
