// SPDX-License-Identifier: MIT
// The table of collectives against what the collectives themselves say.
#include <gtest/gtest.h>

#include "tacos/collective.h"

namespace tacos {
namespace {

constexpr std::uint32_t kNpus = 4;

Collective make(CollectiveKind kind) {
  return Collective::over_all(kind, Bytes{4096}, 1, kNpus).value();
}

TEST(Traits, OfTheReverseAreTurnedRound) {
  for (const CollectiveKind kind : collective_kinds()) {
    const CollectiveTraits& one = traits(kind);
    const CollectiveTraits& other = traits(one.reverse);
    EXPECT_EQ(other.reverse, kind);
    EXPECT_EQ(one.rooted(), other.rooted());
    EXPECT_EQ(one.input.whole, other.output.whole) << one.name;
    EXPECT_EQ(one.input.root_only, other.output.root_only) << one.name;
    const Collective there = make(kind);
    const Collective back = make(one.reverse);
    ASSERT_EQ(there.num_chunks(), back.num_chunks());
    // All-to-All numbers its chunks by pair, and the pair is turned round too.
    for (std::uint32_t c = 0; c < there.num_chunks() && kind != CollectiveKind::kAllToAll; ++c) {
      for (std::uint32_t p = 0; p < kNpus; ++p) {
        EXPECT_EQ(there.starts_with(ChunkId(c), p), back.ends_with(ChunkId(c), p)) << one.name;
      }
    }
  }
}

/// How many bytes participants start or end with, by the conditions of the chunks.
std::int64_t held(const Collective& collective, std::uint32_t participant, bool at_end) {
  std::int64_t bytes = 0;
  for (std::uint32_t c = 0; c < collective.num_chunks(); ++c) {
    const bool has = at_end ? collective.ends_with(ChunkId(c), participant)
                            : collective.starts_with(ChunkId(c), participant);
    bytes += has ? collective.chunks().bytes(ChunkId(c)).count : 0;
  }
  return bytes;
}

TEST(Traits, SayWhatBuffersHold) {
  for (const CollectiveKind kind : collective_kinds()) {
    const CollectiveTraits& one = traits(kind);
    const Collective collective = make(kind);
    for (const bool at_end : {false, true}) {
      const BufferExtent& buffer = at_end ? one.output : one.input;
      for (std::uint32_t p = 0; p < kNpus; ++p) {
        const std::int64_t whole = collective.size().count;
        const std::int64_t has = buffer.whole ? whole : whole / kNpus;
        EXPECT_EQ(held(collective, p, at_end), buffer.root_only && p != 0 ? 0 : has)
            << one.name << ' ' << p << ' ' << at_end;
      }
    }
  }
}

TEST(Traits, HaveTheFactorsOfNcclTests) {
  EXPECT_DOUBLE_EQ(make(CollectiveKind::kAllReduce).bus_factor(), 1.5);
  EXPECT_DOUBLE_EQ(make(CollectiveKind::kAllGather).bus_factor(), 0.75);
  EXPECT_DOUBLE_EQ(make(CollectiveKind::kAllToAll).bus_factor(), 0.75);
  EXPECT_DOUBLE_EQ(make(CollectiveKind::kBroadcast).bus_factor(), 1);
}

}  // namespace
}  // namespace tacos
