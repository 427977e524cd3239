// SPDX-License-Identifier: MIT
#include "synthesis/need.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/problems.h"

namespace tacos {
namespace {

using ::testing::HasSubstr;
using testing::network;
using testing::problem;

using testing::kGiB;
constexpr std::uint64_t kHour = 3'600;

using Estimate = Need (*)(const Topology& topology, const Problem& problem);

Need need(Estimate estimate,
          const std::string& spec,
          CollectiveKind kind,
          std::optional<std::int64_t> chunks = std::nullopt) {
  const Topology topology = network(spec);
  return estimate(topology, problem(topology, kind, kGiB, chunks));
}

std::string refusal(const std::string& spec,
                    CollectiveKind kind,
                    std::optional<std::int64_t> chunks = std::nullopt,
                    const SynthesisOptions& options = {}) {
  const Topology topology = network(spec);
  const Result<Synthesis> made =
      synthesize(topology, problem(topology, kind, kGiB, chunks), options);
  return made ? std::string() : made.error().to_string();
}

TEST(Need, IsSmallForWhatIsUsuallyAsked) {
  for (const Estimate engine : {need_of_matching, need_of_trees, need_of_symmetric}) {
    const Need small = need(engine, "torus:16x16", CollectiveKind::kAllReduce);
    EXPECT_LE(small.seconds, 1U);
    EXPECT_LE(small.bytes, 64U << 20U);
  }
}

TEST(Need, AllowsWhatWasMeasured) {
  // docs/scale.md: 40,000 NPUs take minutes, 1,000,000 by symmetry seconds.
  EXPECT_LT(need(need_of_matching, "mesh:200x200", CollectiveKind::kAllGather).seconds, 300U);
  EXPECT_LT(need(need_of_matching, "mesh:200x200", CollectiveKind::kReduceScatter).seconds, kHour);
  EXPECT_LT(need(need_of_trees, "mesh:200x200", CollectiveKind::kAllReduce, 2'000).seconds, 60U);
  const Need million = need(need_of_symmetric, "torus:100x100x100", CollectiveKind::kAllGather);
  EXPECT_LT(million.seconds, 5U);
  EXPECT_LT(million.bytes, std::uint64_t{kGiB});
}

TEST(Need, TellsHoursFromMinutes) {
  // A delivery through switches looks at everybody.
  EXPECT_LT(need(need_of_matching, "h100:64", CollectiveKind::kAllGather).seconds, 60U);
  EXPECT_GT(need(need_of_matching, "h100:1000", CollectiveKind::kAllGather).seconds, 10 * kHour);
  EXPECT_GT(need(need_of_matching, "mesh:1000x1000", CollectiveKind::kAllGather).seconds,
            10 * kHour);
  EXPECT_GT(need(need_of_routing, "mesh:64x64", CollectiveKind::kAllToAll).bytes,
            20 * std::uint64_t{kGiB});
  EXPECT_LT(need(need_of_routing, "mesh:16x16", CollectiveKind::kAllToAll).bytes, 64U << 20U);
}

TEST(Need, IsRefusedBeforeTheWork) {
  EXPECT_THAT(refusal("mesh:3x3", CollectiveKind::kAllReduce, 1LL << 30U),
              HasSubstr("1,073,741,824 chunks are more than the 4,194,304 supported"));
  EXPECT_THAT(refusal("h100:1000", CollectiveKind::kAllGather),
              HasSubstr("h100:1000: engine matching would take about 28 hours"));
  EXPECT_THAT(refusal("mesh:32x32",
                      CollectiveKind::kAllToAll,
                      std::nullopt,
                      {.memory_bytes = std::uint64_t{kGiB}}),
              HasSubstr("mesh:32x32: needs 1.3 GiB, 1.0 GiB free"));
}

TEST(Need, DropsOnlyTheEnginesThatItIsTooMuchFor) {
  // Trees for each of 60 NPUs need more than a pattern does.
  const Topology topology = network("torus:8x8");
  const Synthesis made =
      testing::synthesize_verified(topology,
                                   problem(topology, CollectiveKind::kAllGather, kGiB, 1),
                                   {.memory_bytes = std::uint64_t{300} << 10U});
  EXPECT_EQ(made.engine, "symmetric");
}

}  // namespace
}  // namespace tacos
