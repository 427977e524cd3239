// SPDX-License-Identifier: MIT
#include "base/parallel/cancel.h"

#include <atomic>

#include <gtest/gtest.h>

#include "tacos/result.h"

#include "base/parallel/threads.h"

namespace tacos {
namespace {

TEST(Cancel, APollWithoutATokenDoesNothing) {
  check_cancel();
  EXPECT_EQ(CancelScope::current(), nullptr);
}

TEST(Cancel, StopsTheWorkOfAllThreads) {
  for (const int threads : {1, 4}) {
    std::stop_source source;
    std::atomic<int> done = 0;
    const Status status = cancellable(source.get_token(), [&]() -> Status {
      ThreadPool pool(threads);
      pool.for_ranges(1000, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          check_cancel();
          if (++done == 10) {
            source.request_stop();
          }
        }
      });
      return ok();
    });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kCancelled);
    EXPECT_LT(done, 10 + 2 * threads);
    EXPECT_EQ(CancelScope::current(), nullptr);
  }
}

TEST(Cancel, InnerWorkWithoutATokenStopsWithTheOuter) {
  std::stop_source source;
  bool swallowed = false;
  const Status status = cancellable(source.get_token(), [&]() -> Status {
    source.request_stop();
    // Whoever goes on after an inner error must not take this for one.
    const Status inner = cancellable({}, []() -> Status {
      check_cancel();
      return ok();
    });
    swallowed = !inner || inner.has_value();
    return ok();
  });
  EXPECT_FALSE(status);
  EXPECT_FALSE(swallowed);
}

TEST(Cancel, InnerWorkWithATokenOfItsOwnIsStoppedAlone) {
  std::stop_source outer;
  std::stop_source inner;
  inner.request_stop();
  const Status status = cancellable(outer.get_token(), [&]() -> Status {
    const Status stopped = cancellable(inner.get_token(), []() -> Status { return ok(); });
    EXPECT_FALSE(stopped);
    check_cancel();
    return ok();
  });
  EXPECT_TRUE(status);
}

TEST(Cancel, WhatWasThereIsLookedAtAgainAfterwards) {
  const std::stop_source first;
  const std::stop_token token = first.get_token();
  const CancelScope outer(token);
  {
    const std::stop_source second;
    const std::stop_token other = second.get_token();
    const CancelScope scope(other);
    EXPECT_EQ(CancelScope::current(), &other);
  }
  EXPECT_EQ(CancelScope::current(), &token);
}

}  // namespace
}  // namespace tacos
