// SPDX-License-Identifier: MIT
#include "synthesis/matching/holders.h"

#include <gtest/gtest.h>

#include "base/numbers/rng.h"

namespace tacos::matching {
namespace {

constexpr std::uint32_t kChunks = 300;
constexpr std::uint32_t kNpus = 20;

/// Chunk by chunk, the way that takes long.
std::uint32_t rarest_of(const Holders& holders, const BitMatrix& set, std::uint64_t salt) {
  std::uint64_t best = ~std::uint64_t{0};
  std::uint32_t rarest = 0;
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    if (set.test(0, chunk) && holders.rarity(chunk, salt) < best) {
      best = holders.rarity(chunk, salt);
      rarest = chunk;
    }
  }
  return rarest;
}

/// Each chunk with so many others in a thousand.
BitMatrix some(Rng& rng, std::uint32_t in_thousand) {
  BitMatrix set(1, kChunks);
  set.set(0, rng.below(kChunks));
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    if (rng.below(1'000) < in_thousand) {
      set.set(0, chunk);
    }
  }
  return set;
}

TEST(Holders, FindTheRarestOfFewAndOfMany) {
  Rng rng(7);
  Holders holders(kChunks, kNpus);
  std::vector<std::uint32_t> count(kChunks, 0);
  for (std::uint32_t round = 0; round < 2'000; ++round) {
    if (const std::uint32_t chunk = rng.below(kChunks); count[chunk] < kNpus) {
      ++count[chunk];
      holders.add(chunk);
    }
    const BitMatrix set = some(rng, round % 3 == 0 ? 3 : 600);
    EXPECT_EQ(holders.rarest_of(set.row(0), round), rarest_of(holders, set, round));
  }
}

TEST(Holders, StopWhenThereAreEnough) {
  Holders holders(kChunks, kNpus);
  BitMatrix all(1, kChunks);
  for (std::uint32_t chunk = 0; chunk < kChunks; ++chunk) {
    all.set(0, chunk);
    for (std::uint32_t npu = 0; npu < chunk % kNpus; ++npu) {
      holders.add(chunk);
    }
  }
  std::vector<std::uint32_t> seen;
  holders.each_rare(
      all.row(0),
      [&](std::uint32_t chunk) { seen.push_back(chunk); },
      [&] { return seen.size() >= kChunks / kNpus + 1; });
  // Those that nobody has are one too few, so all follow that one has.
  ASSERT_EQ(seen.size(), 2 * kChunks / kNpus);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i], i % (kChunks / kNpus) * kNpus + i / (kChunks / kNpus));
  }
}

}  // namespace
}  // namespace tacos::matching
