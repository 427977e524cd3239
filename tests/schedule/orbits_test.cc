// SPDX-License-Identifier: MIT
#include "schedule/patterns/orbits.h"

#include <gtest/gtest.h>

#include "base/numbers/rng.h"

namespace tacos {
namespace {

/// Three NPUs on a switch: link v leads up from NPU v, link 3 + v down to it.
OrbitPattern small_orbits() {
  return {.chunks_per_npu = 2,
          .generators = {{1, 2, 0, 4, 5, 3}},
          .translations = {{.owner = 0, .before = 0, .generator = 0},
                           {.owner = 1, .before = 0, .generator = 0},
                           {.owner = 2, .before = 1, .generator = 0}},
          .entries = {{.start = {0}, .op = Op::kCopy, .chunk = 1, .num_links = 2},
                      {.start = {70}, .op = Op::kReduce, .chunk = 0, .num_links = 1},
                      {.start = {70}, .op = Op::kCopy, .chunk = 0, .num_links = 2}},
          .links = {1, 3, 5, 2, 4}};
}
constexpr PatternLimits kOrbitLimits{.npus = 3, .links = 6, .chunks = 6};

TEST(Orbits, ExpandInOrderOfStartAndFirstLink) {
  const Schedule schedule = make_orbit_schedule(small_orbits(), Ticks{100});
  EXPECT_EQ(schedule.num_transfers(), 9U);
  TransferBatch batch;
  ASSERT_TRUE(schedule.cursor()->next(batch));
  ASSERT_EQ(batch.size(), 9U);
  for (std::size_t i = 1; i < batch.size(); ++i) {
    EXPECT_TRUE(batch[i - 1].start < batch[i].start ||
                batch[i - 1].links.front() < batch[i].links.front());
  }
  // NPU 0 sends to NPU 2 what NPU 2 owns: for NPU 0's chunk it is from NPU 1 to NPU 0.
  const Transfer transfer = batch[0];
  ASSERT_EQ(transfer.links.size(), 2U);
  EXPECT_EQ(transfer.links[0], LinkId(0));
  EXPECT_EQ(transfer.links[1], LinkId(5));
  EXPECT_EQ(transfer.chunks.front(), ChunkId(5));
  // The reduces come last, their link being one of the last three.
  EXPECT_EQ(batch[6].op, Op::kReduce);
  EXPECT_EQ(batch[6].links.front(), LinkId(3));
  EXPECT_EQ(batch[6].chunks.front(), ChunkId(2));
}

TEST(Orbits, ComeBackAsTheyWere) {
  std::vector<std::byte> bytes;
  encode_orbits(small_orbits(), bytes);
  const Result<OrbitPattern> back = decode_orbits(bytes, kOrbitLimits);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, small_orbits());
  EXPECT_EQ(orbits_hash(*back), orbits_hash(small_orbits()));
}

TEST(Orbits, AreRefusedWhenTheyDoNotFit) {
  std::vector<std::byte> bytes;
  encode_orbits(small_orbits(), bytes);
  EXPECT_FALSE(decode_orbits(bytes, {.npus = 4, .links = 6, .chunks = 8}));
  EXPECT_FALSE(decode_orbits(bytes, {.npus = 3, .links = 5, .chunks = 6}));
  EXPECT_FALSE(decode_orbits(bytes, {.npus = 3, .links = 6, .chunks = 3}));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(decode_orbits(std::span(bytes).first(size), kOrbitLimits)) << size;
  }
}

TEST(Orbits, AreNeverExpandedBeyondTheirLimitsWhateverTheirBytes) {
  std::vector<std::byte> bytes;
  encode_orbits(small_orbits(), bytes);
  Rng rng(1);
  int expanded = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> changed = bytes;
    for (std::uint32_t flips = 1 + rng.below(3); flips > 0; --flips) {
      changed[rng.below(static_cast<std::uint32_t>(bytes.size()))] ^=
          static_cast<std::byte>(1U << rng.below(8));
    }
    Result<OrbitPattern> pattern = decode_orbits(changed, kOrbitLimits);
    if (!pattern) {
      continue;
    }
    ++expanded;
    const Schedule schedule = make_orbit_schedule(std::move(*pattern), Ticks{0});
    TransferBatch batch;
    ASSERT_TRUE(schedule.cursor()->next(batch));
    EXPECT_EQ(batch.size(), schedule.num_transfers());
    for (std::size_t at = 0; at < batch.size(); ++at) {
      EXPECT_LT(batch[at].chunks.front().value(), 6U);
      for (const LinkId link : batch[at].links) {
        EXPECT_LT(link.value(), 6U);
      }
    }
  }
  EXPECT_GT(expanded, 100);
}

}  // namespace
}  // namespace tacos
