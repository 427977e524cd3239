// SPDX-License-Identifier: MIT
#include "schedule/read_ahead.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace tacos {
namespace {

/// `good` batches of one transfer each, then the end, a failure or an exception.
class Counting final : public TransferCursor {
 public:
  enum class Then { kEnd, kFail, kThrow };
  Counting(int good, Then then) : good_(good), then_(then) {}

  [[nodiscard]] Status next(TransferBatch& batch) override {
    batch.clear();
    if (good_ == 0) {
      if (then_ == Then::kThrow) {
        throw std::runtime_error("gone");
      }
      return then_ == Then::kFail ? Status(input_error("cut short")) : ok();
    }
    const LinkId link(0);
    const ChunkId chunk(static_cast<std::uint32_t>(--good_));
    batch.append({.start = {}, .op = Op::kCopy, .links = {&link, 1}, .chunks = {&chunk, 1}});
    return ok();
  }

 private:
  int good_;
  Then then_;
};

TEST(ReadAhead, GivesEveryBatchInOrder) {
  ReadAhead cursor(std::make_unique<Counting>(100, Counting::Then::kEnd));
  TransferBatch batch;
  for (std::uint32_t expected = 100; expected-- > 0;) {
    ASSERT_TRUE(cursor.next(batch));
    ASSERT_EQ(batch.size(), 1U);
    EXPECT_EQ(batch.chunks()[0], ChunkId(expected));
  }
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(cursor.next(batch));
    EXPECT_TRUE(batch.empty());
  }
}

TEST(ReadAhead, PassesFailuresOn) {
  ReadAhead failing(std::make_unique<Counting>(1, Counting::Then::kFail));
  TransferBatch batch;
  EXPECT_TRUE(failing.next(batch));
  const Status failed = failing.next(batch);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "cut short");
  ReadAhead throwing(std::make_unique<Counting>(0, Counting::Then::kThrow));
  EXPECT_THROW((void)throwing.next(batch), std::runtime_error);
}

TEST(ReadAhead, CanBeLeftBeforeItsEnd) {
  ReadAhead cursor(std::make_unique<Counting>(100, Counting::Then::kEnd));
  TransferBatch batch;
  EXPECT_TRUE(cursor.next(batch));
}

}  // namespace
}  // namespace tacos
