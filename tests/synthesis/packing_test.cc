// SPDX-License-Identifier: MIT
// What a packing of trees takes when its chunks have another size, against a naive look at every
// way.
#include "synthesis/trees/packing/packing.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "base/numbers/rng.h"
#include "support/random_network.h"
#include "synthesis/trees/packing/packer.h"
#include "synthesis/trees/packing/period_bound.h"

namespace tacos::trees {
namespace {

/// Hop by hop to the root, from every node of every tree.
std::int64_t longest_way(const Fabric& fabric,
                         const std::vector<std::uint32_t>& hops,
                         const Packing& packing,
                         const HopCosts& costs) {
  std::int64_t longest = 0;
  for (std::uint32_t tree = 0; !hops.empty() && tree < packing.num_trees(); ++tree) {
    for (std::uint32_t node = 0; node < packing.num_nodes; ++node) {
      std::int64_t way = 0;
      for (std::uint32_t at = node; at != packing.roots[tree];) {
        const std::uint32_t hop = hops[tree * packing.num_nodes + at];
        way += costs.arrival(hop);
        at = fabric.source(hop) == at ? fabric.target(hop) : fabric.source(hop);
      }
      longest = std::max(longest, way);
    }
  }
  return longest;
}

TEST(Packing, KnowsItsDepthForChunksOfAnySize) {
  constexpr std::array kFlows{Flow::kUpAndDown, Flow::kUp, Flow::kDown};
  int deeper = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed);
    const Topology topology =
        rng.below(2) == 0 ? testing::random_network(seed) : testing::random_switched_network(seed);
    Job job;
    job.flow = kFlows[seed % kFlows.size()];
    for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
      job.participants.push_back(npu);
      job.takes_part.push_back(true);
    }
    job.root = job.flow == Flow::kUpAndDown ? kNone : 0;
    const Result<Fabric> fabric = Fabric::make(topology, job);
    if (!fabric || topology.num_npus() < 2) {
      continue;
    }
    const HopCosts costs(topology, *fabric, Bytes{1 + rng.below(1'000'000)}, LinkModel::kHold);
    Packer packer(topology, *fabric, job, find_centre(*fabric, job, costs.arrivals(), 8), seed, 5);
    const PeriodBound bound(topology, job, costs);
    const Packing packing = packer.pack(1 + rng.below(6), costs, bound, 1, Top::kRoot);
    EXPECT_EQ(depth_of(*fabric, packing, costs), packing.depth);
    for (const std::int64_t bytes : {1, 5'000'000}) {
      const HopCosts other(topology, *fabric, Bytes{bytes}, LinkModel::kHold);
      const std::int64_t depth = longest_way(*fabric, packing.up, packing, other) +
                                 longest_way(*fabric, packing.down, packing, other);
      EXPECT_EQ(depth_of(*fabric, packing, other), depth);
      // No single hop tells it.
      deeper +=
          Int128{depth} * costs.arrival(0) != Int128{packing.depth} * other.arrival(0) ? 1 : 0;
    }
  }
  EXPECT_GT(deeper, 50);
}

}  // namespace
}  // namespace tacos::trees
