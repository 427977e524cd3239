// SPDX-License-Identifier: MIT
#include "schedule/patterns/pattern.h"

#include <gtest/gtest.h>

#include "base/numbers/mixed_radix.h"
#include "base/numbers/rng.h"
#include "schedule/patterns/pattern_columns.h"

namespace tacos {
namespace {

/// Four NPUs in a ring, their links to the right and left, and a switch.
Pattern small_pattern() {
  return {.lengths = {2, 2},
          .links_per_npu = 3,
          .chunks_per_npu = 2,
          .ports = {{.first = 12, .strides = {1, 2}}},
          .moves = {{.shift = 1, .slot = 0, .port = PatternMove::kNoPort},
                    {.shift = 2, .slot = 2, .port = 0}},
          .entries = {{.start = {0}, .op = Op::kCopy, .move = 0, .from = 0, .chunk = 0},
                      {.start = {0}, .op = Op::kCopy, .move = 1, .from = 0, .chunk = 1},
                      {.start = {50}, .op = Op::kReduce, .move = 1, .from = 1, .chunk = 0}}};
}
constexpr PatternLimits kLimits{.npus = 4, .links = 16, .chunks = 8};

TEST(MixedRadix, AddsDigitByDigit) {
  constexpr std::array<std::uint32_t, 3> kLengths{3, 1, 4};
  const MixedRadix group(kLengths);
  ASSERT_EQ(group.size(), 12U);
  for (std::uint32_t a = 0; a < group.size(); ++a) {
    EXPECT_EQ(group.add(a, group.negate(a)), 0U);
    for (std::uint32_t b = 0; b < group.size(); ++b) {
      const std::uint32_t sum = group.add(a, b);
      EXPECT_EQ(sum % 3, (a % 3 + b % 3) % 3);
      EXPECT_EQ(sum / 3, (a / 3 + b / 3) % 4);
      EXPECT_EQ(group.subtract(sum, b), a);
    }
  }
}

TEST(Pattern, ExpandsInOrderOfStartAndFirstLink) {
  const Schedule schedule = make_pattern_schedule(small_pattern(), Ticks{100});
  EXPECT_EQ(schedule.num_transfers(), 12U);
  TransferBatch batch;
  ASSERT_TRUE(schedule.cursor()->next(batch));
  ASSERT_EQ(batch.size(), 12U);
  for (std::size_t i = 1; i < batch.size(); ++i) {
    EXPECT_TRUE(batch[i - 1].start < batch[i].start ||
                batch[i - 1].links.front() < batch[i].links.front());
  }
  // NPU 3 = (1, 1) sends to (1, 0) = NPU 1, over its link up and the switch's link to NPU 1, the
  // second chunk of its own.
  const Transfer transfer = batch[7];
  EXPECT_EQ(transfer.start, Ticks{0});
  ASSERT_EQ(transfer.links.size(), 2U);
  EXPECT_EQ(transfer.links[0], LinkId(11));
  EXPECT_EQ(transfer.links[1], LinkId(13));
  EXPECT_EQ(transfer.chunks.front(), ChunkId(7));
  // The reduce of NPU 0 is of the chunk whose owner is one before it in the first coordinate.
  EXPECT_EQ(batch[8].op, Op::kReduce);
  EXPECT_EQ(batch[8].chunks.front(), ChunkId(2));
}

TEST(Pattern, ComesBackAsItWas) {
  std::vector<std::byte> bytes;
  encode_pattern(small_pattern(), bytes);
  const Result<Pattern> back = decode_pattern(bytes, kLimits);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, small_pattern());
  EXPECT_EQ(pattern_hash(*back), pattern_hash(small_pattern()));
}

TEST(Pattern, IsRefusedWhenItDoesNotFit) {
  std::vector<std::byte> bytes;
  encode_pattern(small_pattern(), bytes);
  EXPECT_FALSE(decode_pattern(bytes, {.npus = 5, .links = 16, .chunks = 8}));
  EXPECT_FALSE(decode_pattern(bytes, {.npus = 4, .links = 15, .chunks = 8}));
  EXPECT_FALSE(decode_pattern(bytes, {.npus = 4, .links = 16, .chunks = 4}));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_pattern(std::span(bytes).first(size), kLimits)) << size;
  }
}

TEST(Pattern, HasNoMoreEntriesThanBytes) {
  // One run that says it has 2^32 - 1 entries, for a collective that has as many chunks.
  std::vector<std::byte> bytes;
  const auto columns = [&](std::initializer_list<Numbers> lists) {
    for (const Numbers& list : lists) {
      encode_column(bytes, list);
    }
  };
  columns({{2}, {1, 1U << 30U}, {}, {}, {1}, {0}, {0}, {0}, {0xffffffffU}});
  EXPECT_FALSE(decode_pattern(bytes, {.npus = 2, .links = 2, .chunks = 1U << 31U}));
}

TEST(Pattern, IsNeverExpandedBeyondItsLimitsWhateverItsBytes) {
  std::vector<std::byte> bytes;
  encode_pattern(small_pattern(), bytes);
  Rng rng(1);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> changed = bytes;
    for (std::uint32_t flips = 1 + rng.below(3); flips > 0; --flips) {
      changed[rng.below(static_cast<std::uint32_t>(bytes.size()))] ^=
          static_cast<std::byte>(1U << rng.below(8));
    }
    Result<Pattern> pattern = decode_pattern(changed, kLimits);
    if (!pattern) {
      continue;
    }
    const Schedule schedule = make_pattern_schedule(std::move(*pattern), Ticks{0});
    TransferBatch batch;
    ASSERT_TRUE(schedule.cursor()->next(batch));
    EXPECT_LE(batch.size(), 2U * 4U * 8U);
    for (std::size_t at = 0; at < batch.size(); ++at) {
      EXPECT_LT(batch[at].chunks.front().value(), 8U);
      for (const LinkId link : batch[at].links) {
        EXPECT_LT(link.value(), 16U);
      }
    }
  }
}

}  // namespace
}  // namespace tacos
