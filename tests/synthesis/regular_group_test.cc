// SPDX-License-Identifier: MIT
#include "synthesis/symmetric/regular_group.h"

#include <gtest/gtest.h>

#include "support/problems.h"
#include "support/random_network.h"
#include "support/symmetry.h"
#include "synthesis/symmetric/free_action.h"

namespace tacos::testing {
namespace {

/// Whether two symmetries, all of them tried, generate a regular group. Groups of up to seven
/// elements need no more generators.
bool has_regular_group(const Topology& topology) {
  const std::set<NodeMap> all = all_automorphisms(topology);
  for (const NodeMap& a : all) {
    for (const NodeMap& b : all) {
      if (is_regular(generated_group({a, b}, topology.num_nodes()), topology.num_npus())) {
        return true;
      }
    }
  }
  return false;
}

/// What is found, checked: symmetries of the network that form a regular group.
bool finds_regular_group(const Topology& topology) {
  const std::vector<Permutation> found = symmetric::looks_alike_everywhere(topology)
                                             ? symmetric::find_regular_group(topology)
                                             : std::vector<Permutation>{};
  if (found.empty()) {
    return false;
  }
  EXPECT_TRUE(is_regular(generated_group(found, topology.num_nodes()), topology.num_npus()));
  std::multiset<std::tuple<NodeId, NodeId, std::int64_t, std::int64_t>> links;
  for (const Link& link : topology.links()) {
    links.emplace(link.src, link.dst, link.bandwidth.bytes_per_second, link.latency.ps);
  }
  for (const Permutation& generator : found) {
    auto moved = links;
    moved.clear();
    for (const Link& link : topology.links()) {
      moved.emplace(NodeId(generator[link.src.index()]),
                    NodeId(generator[link.dst.index()]),
                    link.bandwidth.bytes_per_second,
                    link.latency.ps);
    }
    EXPECT_EQ(moved, links);
  }
  return true;
}

TEST(RegularGroup, IsFoundOnProductsInDisguise) {
  for (const char* spec : {"ring:2",
                           "ring:3",
                           "ring:12",
                           "torus:3x5",
                           "torus:8x8",
                           "torus:6x6x6",
                           "hypercube:5",
                           "fc:9",
                           "switch:11",
                           "torus:4x4,bw=50GBps/25GBps",
                           "switch:4*switch:4",
                           "ring:3*fc:4*switch:5,bw=200GBps/100GBps/50GBps"}) {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      EXPECT_TRUE(finds_regular_group(relabelled(network(spec), seed))) << spec;
    }
  }
}

TEST(RegularGroup, IsFoundWhereItIsNotAbelian) {
  // Ordered pairs of groups: needs a group that takes any two groups to any two, as there is when
  // their number is a power of a prime.
  EXPECT_TRUE(finds_regular_group(network("dragonfly:3x4")));
  EXPECT_TRUE(finds_regular_group(network("dragonfly:4x5")));
  EXPECT_TRUE(finds_regular_group(network("dragonfly:8x9")));
  EXPECT_FALSE(finds_regular_group(network("dragonfly:5x6")));
}

TEST(RegularGroup, IsFoundOnOtherNetworks) {
  EXPECT_TRUE(finds_regular_group(network("a100:4")));
  EXPECT_TRUE(finds_regular_group(directed_circulant(9, {1})));
  EXPECT_TRUE(finds_regular_group(directed_circulant(12, {1, 3})));
  EdgeList bipartite;
  for (std::uint32_t a = 0; a < 5; ++a) {
    for (std::uint32_t b = 5; b < 10; ++b) {
      bipartite.emplace_back(a, b);
    }
  }
  EXPECT_TRUE(finds_regular_group(graph(10, bipartite)));
}

TEST(RegularGroup, IsNotFoundWhereThereIsNone) {
  EXPECT_FALSE(finds_regular_group(petersen_graph()));
  EXPECT_FALSE(finds_regular_group(network("mesh:3x3")));
  // The hybrid cube mesh has two kinds of GPUs.
  EXPECT_FALSE(finds_regular_group(network("dgx1")));
  // Three links at every NPU, but triangles at some only.
  EXPECT_FALSE(finds_regular_group(graph(8,
                                         {{0, 1},
                                          {1, 2},
                                          {2, 0},
                                          {0, 3},
                                          {1, 4},
                                          {2, 5},
                                          {3, 6},
                                          {3, 7},
                                          {4, 6},
                                          {5, 7},
                                          {6, 7},
                                          {4, 5}})));
}

TEST(RegularGroup, IsNotSoughtWhereItCannotBeUsed) {
  EXPECT_FALSE(symmetric::looks_alike_everywhere(network("fc:1")));
  EXPECT_FALSE(symmetric::looks_alike_everywhere(network("fat-tree:4")));
  EXPECT_FALSE(symmetric::looks_alike_everywhere(network("torus:80x80")));
}

TEST(RegularGroup, IsFoundExactlyWhereTryingAllFindsOne) {
  int with = 0;
  int transitive = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Rng rng(seed);
    // Every pair of NPUs is joined or not, by the difference of their ids for half of the networks.
    const std::uint32_t npus = 3 + rng.below(4);
    const std::uint64_t bits = rng.next();
    EdgeList edges;
    for (std::uint32_t a = 0; a < npus; ++a) {
      for (std::uint32_t b = a + 1; b < npus; ++b) {
        const std::uint32_t bit = seed % 2 == 0 ? a * npus + b : std::min(b - a, npus + a - b);
        if ((bits >> bit) % 2 == 1) {
          edges.emplace_back(a, b);
        }
      }
    }
    const Topology topology = relabelled(graph(npus, edges), seed);
    if (edges.empty()) {
      continue;
    }
    const bool regular = has_regular_group(topology);
    EXPECT_EQ(finds_regular_group(topology), regular) << seed;
    with += regular ? 1 : 0;
    ++transitive;
  }
  EXPECT_GT(with, 50);
  EXPECT_GT(transitive - with, 50);
}

TEST(ActsFreely, AgreesWithTheWholeGroup) {
  int free = 0;
  const std::array networks{network("torus:2x3"), network("hypercube:3")};
  const std::array groups{all_automorphisms(networks[0]), all_automorphisms(networks[1])};
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Rng rng(seed);
    const Topology& topology = networks[seed % 2];
    const std::set<NodeMap>& all = groups[seed % 2];
    std::vector<NodeMap> some;
    for (std::uint32_t i = 0; i < 1 + rng.below(2); ++i) {
      some.push_back(*std::next(all.begin(), rng.below(static_cast<std::uint32_t>(all.size()))));
    }
    const std::set<NodeMap> group = generated_group(some, topology.num_nodes());
    std::size_t fixing = 0;
    for (const NodeMap& member : group) {
      fixing += std::any_of(member.begin(), member.end(), [&](const std::uint32_t& image) {
        return image == static_cast<std::uint32_t>(&image - member.data());
      });
    }
    EXPECT_EQ(symmetric::acts_freely(some, topology.num_npus()), fixing == 1) << seed;
    free += fixing == 1 ? 1 : 0;
  }
  EXPECT_GT(free, 30);
  EXPECT_LT(free, 270);
}

}  // namespace
}  // namespace tacos::testing
