// SPDX-License-Identifier: MIT
#include "schedule/blocks/block.h"

#include <gtest/gtest.h>

#include "base/numbers/rng.h"
#include "schedule/blocks/columns.h"
#include "schedule/builder.h"
#include "schedule/source.h"

namespace tacos {
namespace {

constexpr std::uint32_t kLinks = 1000;

/// A random batch in start order, with routes and shared chunks when `rich`.
TransferBatch random_batch(std::uint64_t seed, std::size_t size, bool rich) {
  Rng rng(seed);
  TransferBatch batch;
  Ticks start;
  for (std::size_t i = 0; i < size; ++i) {
    start += Ticks{static_cast<std::int64_t>(rng.below(4)) * rng.below(1'000'000)};
    std::vector<LinkId> links;
    std::vector<ChunkId> chunks;
    const std::uint32_t num_links = 1 + (rich ? rng.below(3) : 0);
    const std::uint32_t num_chunks = 1 + (rich ? rng.below(4) : 0);
    for (std::uint32_t l = 0; l < num_links; ++l) {
      links.emplace_back(rng.below(kLinks));
    }
    for (std::uint32_t c = 0; c < num_chunks; ++c) {
      chunks.emplace_back(rng.below(1U << 20U));
    }
    batch.append({start, rng.below(2) == 0 ? Op::kCopy : Op::kReduce, links, chunks});
  }
  return batch;
}

void expect_equal(const TransferBatch& a, const TransferBatch& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].start, b[i].start);
    EXPECT_EQ(a[i].op, b[i].op);
    EXPECT_TRUE(
        std::equal(a[i].links.begin(), a[i].links.end(), b[i].links.begin(), b[i].links.end()));
    EXPECT_TRUE(
        std::equal(a[i].chunks.begin(), a[i].chunks.end(), b[i].chunks.begin(), b[i].chunks.end()));
  }
}

TEST(Block, ComesBackAsItWas) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const TransferBatch batch = random_batch(seed, 1 + seed * 7, seed % 2 == 1);
    std::vector<std::byte> bytes;
    BlockCodec::encode(batch, kLinks, bytes);
    TransferBatch back;
    ASSERT_TRUE(BlockCodec::decode(bytes, kLinks, back));
    expect_equal(batch, back);
    EXPECT_EQ(batch.simple(), back.simple());
  }
}

TEST(Block, TakesThreeBytesOnAUniformNetwork) {
  TransferBatch batch;
  Rng rng(1);
  for (std::uint32_t i = 0; i < kBlockTransfers; ++i) {
    const LinkId link(i * 3 % kLinks);
    const ChunkId chunk(rng.below(1U << 16U));
    batch.append(
        {Ticks{800'500 * static_cast<std::int64_t>(i / 333)}, Op::kCopy, {&link, 1}, {&chunk, 1}});
  }
  std::vector<std::byte> bytes;
  BlockCodec::encode(batch, kLinks, bytes);
  EXPECT_LE(bytes.size(), 4 * kBlockTransfers);
}

TEST(Block, SurvivesAnyDamage) {
  const TransferBatch batch = random_batch(3, 40, true);
  std::vector<std::byte> bytes;
  BlockCodec::encode(batch, kLinks, bytes);
  TransferBatch back;
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(BlockCodec::decode(std::span(bytes).first(length), kLinks, back));
  }
  Rng rng(9);
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<std::byte> broken = bytes;
    broken[rng.below(static_cast<std::uint32_t>(broken.size()))] ^=
        static_cast<std::byte>(1U << rng.below(8));
    // Whether it still means something or not, it must not crash or read outside.
    if (BlockCodec::decode(broken, kLinks, back)) {
      for (const LinkId link : back.links()) {
        EXPECT_LT(link.value(), kLinks);
      }
    }
  }
}

TEST(Block, HoldsNoMoreChunksThanItHasBytesFor) {
  // Columns of equal numbers: of any length, and without bytes.
  constexpr std::uint64_t kChunksEach = 4096;
  std::vector<std::byte> bytes;
  encode_constant(bytes, 1, 0);
  encode_constant(bytes, 1, kBlockTransfers);
  encode_constant(bytes, kBlockTransfers, 0);
  encode_constant(bytes, kBlockTransfers, 1);
  encode_constant(bytes, kBlockTransfers, kChunksEach);
  encode_constant(bytes, kBlockTransfers, 0);
  encode_constant(bytes, kBlockTransfers * kChunksEach, 0);
  TransferBatch batch;
  EXPECT_FALSE(BlockCodec::decode(bytes, kLinks, batch));
}

TEST(ScheduleBuilder, CountsAndHashesWhatItIsGiven) {
  const LinkId link(1);
  const std::vector<ChunkId> two{ChunkId(0), ChunkId(1)};
  ScheduleBuilder builder(4);
  builder.append({Ticks{0}, Op::kCopy, {&link, 1}, two}, Ticks{50});
  builder.append(Ticks{10}, Op::kReduce, LinkId(2), ChunkId(3), Ticks{40});
  const Schedule schedule = std::move(builder).build();
  EXPECT_EQ(schedule.num_transfers(), 2U);
  EXPECT_EQ(schedule.totals().moves, 3U);
  EXPECT_EQ(schedule.collective_time(), Ticks{50});
  ScheduleBuilder other(4);
  other.append({Ticks{0}, Op::kCopy, {&link, 1}, two}, Ticks{50});
  other.append(Ticks{10}, Op::kCopy, LinkId(2), ChunkId(3), Ticks{40});
  EXPECT_NE(std::move(other).build().hash(), schedule.hash());
}

TEST(ScheduleBuilder, WalksManyBlocksBothWays) {
  ScheduleBuilder builder(kLinks);
  const std::size_t total = 2 * kBlockTransfers + 100;
  for (std::size_t i = 0; i < total; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    builder.append(Ticks{at}, Op::kCopy, LinkId(5), ChunkId(7), Ticks{at + 1});
  }
  const Schedule schedule = std::move(builder).build();
  TransferBatch batch;
  std::size_t seen = 0;
  const auto forwards = schedule.cursor();
  while (forwards->next(batch) && !batch.empty()) {
    EXPECT_EQ(batch.starts().front().ps, static_cast<std::int64_t>(seen));
    seen += batch.size();
  }
  EXPECT_EQ(seen, total);
  const auto backwards = source_of(schedule).reverse_cursor();
  while (backwards->next(batch) && !batch.empty()) {
    seen -= batch.size();
    EXPECT_EQ(batch.starts().front().ps, static_cast<std::int64_t>(seen));
  }
  EXPECT_EQ(seen, 0U);
}

}  // namespace
}  // namespace tacos
