// SPDX-License-Identifier: MIT
#include "topology/automorphisms.h"

#include <gtest/gtest.h>

#include "support/problems.h"
#include "support/random_network.h"
#include "support/symmetry.h"

namespace tacos::testing {
namespace {

std::set<NodeMap> group_of(const Topology& topology) {
  return generated_group(automorphisms(topology), topology.num_nodes());
}

TEST(Automorphisms, AreAllThatThereAre) {
  std::vector<Topology> networks{network("ring:2"),
                                 network("ring:7"),
                                 network("mesh:2x3"),
                                 network("hypercube:3"),
                                 network("fc:5"),
                                 network("torus:2x3,bw=50GBps/100GBps"),
                                 network("switch:5"),
                                 network("dragonfly:2x3"),
                                 directed_circulant(6, {1}),
                                 directed_circulant(7, {1, 2}),
                                 graph(6, {{0, 1}, {2, 3}, {4, 5}})};
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    networks.push_back(random_network(
        seed, {.max_npus = 6, .directed = seed % 2 == 0, .heterogeneous = seed % 3 == 0}));
  }
  for (const Topology& topology : networks) {
    EXPECT_EQ(group_of(topology), all_automorphisms(topology)) << topology.name();
  }
}

TEST(Automorphisms, DoNotSwapSwitchesForNothing) {
  // Three NPUs on two equal switches: 3! symmetries, not twice as many.
  TopologyBuilder builder("twins", 3, 2);
  for (std::uint32_t npu = 0; npu < 3; ++npu) {
    for (std::uint32_t node = 3; node < 5; ++node) {
      Link link = kPlainLink;
      link.src = NodeId(npu);
      link.dst = NodeId(node);
      builder.add_both(link);
    }
  }
  const Topology topology = std::move(builder).build().value();
  EXPECT_EQ(all_automorphisms(topology).size(), 12U);
  EXPECT_EQ(group_of(topology).size(), 6U);
}

TEST(Automorphisms, KeepWhatTheyAreAskedTo) {
  const Topology topology = network("ring:8");
  const Permutation right{1, 2, 3, 4, 5, 6, 7, 0};
  const Permutation left{7, 0, 1, 2, 3, 4, 5, 6};
  const Permutation opposite{4, 5, 6, 7, 0, 1, 2, 3};
  const auto size = [&](const std::vector<Permutation>& kept, Keep how) {
    return generated_group(automorphisms(topology, kept, how), 8).size();
  };
  EXPECT_EQ(size({}, Keep::kEach), 16U);
  EXPECT_EQ(size({opposite}, Keep::kEach), 16U);
  EXPECT_EQ(size({right}, Keep::kEach), 8U);
  EXPECT_EQ(size({right}, Keep::kAll), 8U);
  // A reflection turns a step to the right into one to the left.
  EXPECT_EQ(size({right, left}, Keep::kEach), 8U);
  EXPECT_EQ(size({right, left}, Keep::kAll), 16U);
}

TEST(Automorphisms, TakeLinksToEqualLinks) {
  for (const char* spec : {"torus:3x4,bw=50GBps/25GBps",
                           "ring:2*fc:3*switch:4,bw=200GBps/100GBps/50GBps,lat=3ns",
                           "dgx1",
                           "a100:2"}) {
    const Topology topology = relabelled(network(spec), 5);
    for (const Permutation& nodes : automorphisms(topology)) {
      const Permutation links = link_permutation(topology, nodes);
      std::set<std::uint32_t> images(links.begin(), links.end());
      EXPECT_EQ(images.size(), topology.num_links());
      for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
        Link link = topology.link(LinkId(id));
        link.src = NodeId(nodes[link.src.index()]);
        link.dst = NodeId(nodes[link.dst.index()]);
        ASSERT_EQ(topology.link(LinkId(links[id])), link) << spec;
      }
    }
  }
}

TEST(Automorphisms, ActOnParallelLinksAsAGroup) {
  // The links of 2 > 0 come in another order than those of 0 > 1.
  TopologyBuilder builder("parallel", 3);
  for (std::uint32_t npu = 0; npu < 3; ++npu) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      Link link = kPlainLink;
      link.src = NodeId(npu);
      link.dst = NodeId((npu + 1) % 3);
      link.latency.ps += (i + npu) % 3 / 2;
      builder.add_link(link);
    }
  }
  const Topology topology = std::move(builder).build().value();
  const Permutation step{1, 2, 0};
  const Permutation once = link_permutation(topology, step);
  const Permutation twice = link_permutation(topology, composed(step, step));
  EXPECT_EQ(composed(once, once), twice);
  EXPECT_EQ(composed(once, twice), identity_permutation(9));
}

TEST(TwinRotation, GoesRoundAmongNpusWithTheSameNeighbours) {
  EXPECT_EQ(twin_rotation(network("switch:3")), (Permutation{1, 2, 0, 3}));
  EXPECT_EQ(twin_rotation(network("fc:4")), (Permutation{1, 2, 3, 0}));
  EXPECT_EQ(twin_rotation(network("ring:5")), identity_permutation(5));
  // Opposite corners of a square have the same neighbours.
  EXPECT_EQ(twin_rotation(network("ring:4")), (Permutation{2, 3, 0, 1}));
  const Topology boxes = network("a100:2");
  const Permutation rotation = twin_rotation(boxes);
  EXPECT_EQ(rotation[7], 0U);
  EXPECT_EQ(rotation[8], 9U);
  EXPECT_EQ(rotation[15], 8U);
}

}  // namespace
}  // namespace tacos::testing
