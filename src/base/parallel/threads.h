// SPDX-License-Identifier: MIT
// The one place that knows oneTBB, or std::thread in its stead (TACOS_STD_THREADS).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace tacos {

/// A pool of a fixed number of threads. With one thread everything runs in the caller.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  ~ThreadPool();

  [[nodiscard]] int threads() const { return threads_; }
  using RangeBody = std::function<void(std::size_t begin, std::size_t end)>;
  /// Calls body(begin, end) on disjoint ranges that cover [0, count), each at least `grain` long.
  void for_ranges(std::size_t count, std::size_t grain, const RangeBody& body);

 private:
  struct Arena;
  int threads_;
  std::unique_ptr<Arena> arena_;
};

}  // namespace tacos
