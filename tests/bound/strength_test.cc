// SPDX-License-Identifier: MIT
#include "bound/partitions/strength.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/numbers/rng.h"

namespace tacos {
namespace {

/// A tree and some more edges.
std::vector<WeightedEdge> random_graph(Rng& rng, std::uint32_t nodes, std::uint32_t more) {
  std::vector<WeightedEdge> edges;
  for (std::uint32_t node = 1; node < nodes; ++node) {
    edges.push_back({rng.below(node), node, 1 + rng.below(9)});
  }
  for (std::uint32_t i = 0; i < more; ++i) {
    const std::uint32_t a = rng.below(nodes);
    const std::uint32_t b = rng.below(nodes);
    if (a != b) {
      edges.push_back({a, b, 1 + rng.below(9)});
    }
  }
  return edges;
}

std::vector<std::uint32_t> singletons(std::uint32_t nodes) {
  std::vector<std::uint32_t> part(nodes);
  std::iota(part.begin(), part.end(), 0U);
  return part;
}

TEST(Strength, OfACycleIsItsWeightPerSpanningTree) {
  std::vector<WeightedEdge> edges;
  for (std::uint32_t node = 0; node < 7; ++node) {
    edges.push_back({node, (node + 1) % 7, 3});
  }
  const Strength strength = graph_strength(7, edges, singletons(7), StrengthGoal::kExact);
  EXPECT_EQ(strength.across * 6, 21 * strength.parts_less_one);
}

TEST(Strength, OfTwoCliquesIsTheBridge) {
  std::vector<WeightedEdge> edges{{0, 4, 1}};
  for (std::uint32_t a = 0; a < 4; ++a) {
    for (std::uint32_t b = a + 1; b < 4; ++b) {
      edges.push_back({a, b, 5});
      edges.push_back({4 + a, 4 + b, 5});
    }
  }
  const Strength strength = graph_strength(8, edges, singletons(8), StrengthGoal::kExact);
  EXPECT_EQ(strength.across, 1);
  EXPECT_EQ(strength.parts_less_one, 1);
  EXPECT_EQ(strength.part, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 1, 1, 1}));
}

TEST(Strength, DoesNotDependOnTheFirstGuess) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    const std::uint32_t nodes = 20 + rng.below(60);
    const std::vector<WeightedEdge> edges = random_graph(rng, nodes, nodes + rng.below(4 * nodes));
    std::vector<std::uint32_t> halves(nodes, 0);
    std::fill(halves.begin() + nodes / 2, halves.end(), 1U);
    const Strength a = graph_strength(nodes, edges, singletons(nodes), StrengthGoal::kExact);
    const Strength b = graph_strength(nodes, edges, halves, StrengthGoal::kExact);
    EXPECT_EQ(a.across * b.parts_less_one, b.across * a.parts_less_one) << seed;
    EXPECT_EQ(a.slack, 0);
  }
}

TEST(Strength, WithinOnePercentIsWithinOnePercent) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Rng rng(seed);
    const std::uint32_t nodes = 20 + rng.below(60);
    const std::vector<WeightedEdge> edges = random_graph(rng, nodes, nodes + rng.below(4 * nodes));
    const Strength exact = graph_strength(nodes, edges, singletons(nodes), StrengthGoal::kExact);
    const Strength close =
        graph_strength(nodes, edges, singletons(nodes), StrengthGoal::kWithinOnePercent);
    EXPECT_GE(close.across * exact.parts_less_one, exact.across * close.parts_less_one) << seed;
    EXPECT_LE(99 * close.across * exact.parts_less_one, 100 * exact.across * close.parts_less_one)
        << seed;
    EXPECT_EQ(close.slack, 100);
  }
}

}  // namespace
}  // namespace tacos
