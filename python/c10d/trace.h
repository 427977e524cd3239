// SPDX-License-Identifier: MIT
// What a rank did, as the trace viewers of Chrome and Perfetto read it.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "tacos/result.h"

namespace tacos::torch_backend {

class Trace {
 public:
  using Clock = std::chrono::steady_clock;
  struct Event {
    std::string title;
    /// The schedule, or why there is none.
    std::string by;
    std::uint64_t bytes = 0;
    /// Whether others may be under way at the same time, as messages are.
    bool aside = false;
    Clock::time_point asked;
    Clock::time_point started;
    Clock::time_point ended;
  };

  /// A file of this rank in the folder, which is made.
  [[nodiscard]] static Result<std::unique_ptr<Trace>> open(const std::string& folder,
                                                           const std::string& group,
                                                           int rank);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

  void add(const Event& event);

 private:
  explicit Trace(std::FILE* file, int rank);
  [[nodiscard]] double microseconds(Clock::time_point time) const;

  std::FILE* file_;
  int rank_;
  /// From our clock to the one that all ranks share.
  std::chrono::nanoseconds shift_;
};

}  // namespace tacos::torch_backend
