// SPDX-License-Identifier: MIT
// How far a work is that has several parts, told to whoever wants to know.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace tacos {

/// Parts of equal weight, done one after the other or at the same time. The listener is called by
/// one thread at a time, with shares that never go back, even when a part starts again.
class JointProgress {
 public:
  /// `tell` may be empty: nobody listens.
  JointProgress(std::function<void(double)> tell, std::size_t parts)
      : tell_(std::move(tell)), done_(parts, 0) {}
  JointProgress(const JointProgress&) = delete;
  JointProgress& operator=(const JointProgress&) = delete;
  ~JointProgress() = default;

  /// What a part calls with its own share, from any thread; empty when nobody listens.
  [[nodiscard]] std::function<void(double)> part(std::size_t part) {
    return tell_ ? [this, part](double share) { update(part, share); }
                 : std::function<void(double)>();
  }

 private:
  void update(std::size_t part, double share) {
    const std::scoped_lock lock(mutex_);
    if (share > done_[part]) {
      sum_ += share - done_[part];
      done_[part] = share;
      tell_(std::min(1.0, sum_ / static_cast<double>(done_.size())));
    }
  }

  std::function<void(double)> tell_;
  std::mutex mutex_;
  /// By part, the most that it has said.
  std::vector<double> done_;
  double sum_ = 0;
};

}  // namespace tacos
