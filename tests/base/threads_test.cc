// SPDX-License-Identifier: MIT
#include "base/parallel/threads.h"

#include <atomic>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#ifndef TACOS_STD_THREADS
#include <oneapi/tbb/global_control.h>
#endif

namespace tacos {
namespace {

TEST(ThreadPool, CoversEveryNumberOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (const std::size_t count : {0, 1, 7, 1000}) {
      std::vector<std::atomic<int>> seen(count);
      pool.for_ranges(count, 3, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          ++seen[i];
        }
      });
      for (const std::atomic<int>& times : seen) {
        EXPECT_EQ(times, 1);
      }
    }
  }
}

TEST(ThreadPool, PassesOnWhatIsThrown) {
  ThreadPool pool(3);
  const auto fail = [](std::size_t begin, std::size_t /*end*/) {
    if (begin > 10) {
      throw std::runtime_error("no");
    }
  };
  EXPECT_THROW(pool.for_ranges(100, 1, fail), std::runtime_error);
}

#ifndef TACOS_STD_THREADS
TEST(ThreadPool, LeavesTheThreadsOfTheHostAlone) {
  constexpr auto kLimit = tbb::global_control::max_allowed_parallelism;
  const std::size_t before = tbb::global_control::active_value(kLimit);
  const ThreadPool pool(2);
  const ThreadPool many(static_cast<int>(before) + 1);
  EXPECT_EQ(tbb::global_control::active_value(kLimit), before);
}
#endif

}  // namespace
}  // namespace tacos
