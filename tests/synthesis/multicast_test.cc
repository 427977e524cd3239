// SPDX-License-Identifier: MIT
#include <algorithm>

#include <gtest/gtest.h>

#include "tacos/bound.h"

#include "support/problems.h"
#include "synthesis/multicast/steiner_trees.h"

namespace tacos {
namespace {

using testing::network;
using testing::problem;
using testing::synthesize_verified;

using testing::kGiB;

Problem group_problem(const Topology& topology,
                      CollectiveKind kind,
                      std::int64_t size,
                      std::initializer_list<std::uint32_t> group,
                      std::optional<std::int64_t> chunks = std::nullopt) {
  Problem made = problem(topology, kind, size, chunks);
  made.participants.clear();
  for (const std::uint32_t npu : group) {
    made.participants.emplace_back(npu);
  }
  return made;
}

double share_of_bandwidth(const Topology& topology, const Synthesis& made) {
  const Result<BoundReport> bound = compute_bounds(topology, *made.collective);
  return to_us(bound->bandwidth.time) / to_us(made.schedule->collective_time());
}

struct Case {
  const char* spec;
  std::initializer_list<std::uint32_t> group;
};

void expect_share(const Case& one, CollectiveKind kind, double least) {
  const Topology topology = network(one.spec);
  const Synthesis made = synthesize_verified(
      topology, group_problem(topology, kind, kGiB, one.group), {.engine = "multicast"});
  EXPECT_GE(share_of_bandwidth(topology, made), least) << one.spec;
}

TEST(Multicast, UsesTheLinksOfNpusOutsideTheGroup) {
  for (const Case& one : {Case{"mesh:6x6", {0, 1, 2, 3, 4, 5}},
                          Case{"dragonfly:4x5,bw=400GBps/200GBps", {0, 1, 4, 5, 8, 9}},
                          Case{"a100:2", {0, 1, 2, 3, 8, 9, 10, 11}}}) {
    expect_share(one, CollectiveKind::kAllGather, 0.95);
    expect_share(one, CollectiveKind::kReduceScatter, 0.95);
    expect_share(one, CollectiveKind::kBroadcast, 0.90);
    expect_share(one, CollectiveKind::kReduce, 0.90);
  }
}

TEST(Multicast, ReducesUpAndCopiesDownTheSameTrees) {
  // Reduce-Scatter then All-Gather cannot do better than 60% here.
  expect_share({"mesh:6x6", {0, 1, 2, 3, 4, 5}}, CollectiveKind::kAllReduce, 0.90);
  expect_share({"torus:4x4", {0, 5, 10, 15}}, CollectiveKind::kAllReduce, 0.85);
}

TEST(Multicast, ReducesOverLinksThatGoOneWay) {
  TopologyBuilder builder("circle", 6, 0);
  for (std::uint32_t npu = 0; npu < 6; ++npu) {
    builder.add_link({.src = NodeId(npu),
                      .dst = NodeId((npu + 1) % 6),
                      .bandwidth = {50'000'000'000},
                      .latency = {500'000}});
  }
  const Topology circle = std::move(builder).build().value();
  const Problem one = group_problem(circle, CollectiveKind::kAllReduce, 1'000'000, {0, 2, 3});
  EXPECT_EQ(synthesize_verified(circle, one, {.engine = "multicast"}).engine, "multicast");
}

TEST(Multicast, KeepsTheSameBytesOnAnyNumberOfThreads) {
  const Topology topology = network("mesh:4x4");
  const Problem one = group_problem(topology, CollectiveKind::kAllReduce, kGiB, {0, 3, 5, 14});
  const Synthesis first = synthesize_verified(topology, one, {.engine = "multicast"});
  const Synthesis again = synthesize_verified(topology, one, {.engine = "multicast", .threads = 4});
  EXPECT_EQ(first.schedule->hash(), again.schedule->hash());
}

TEST(Multicast, WorksUnderBothLinkModelsAtAnySize) {
  for (const char* spec : {"mesh:3x3", "ndv2:2", "fat-tree:4,bw=50GBps/50GBps/25GBps"}) {
    const Topology topology = network(spec);
    for (const std::int64_t size : {3LL, 1'000'003LL}) {
      for (const LinkModel model : {LinkModel::kHold, LinkModel::kPipelined}) {
        for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kAllReduce}) {
          const Problem one = group_problem(topology, kind, size, {0, 2, 7});
          EXPECT_EQ(synthesize_verified(topology, one, {.engine = "multicast", .link_model = model})
                        .engine,
                    "multicast");
        }
      }
    }
  }
}

TEST(Multicast, LetsMatchingDoWhatIsMostlyLatency) {
  const Topology topology = network("mesh:6x6");
  const Problem one = group_problem(topology, CollectiveKind::kAllGather, 600, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(synthesize_verified(topology, one).compared.size(), 3);
}

TEST(Multicast, RefusesWhatHasNoRelays) {
  const Topology topology = network("mesh:3x3");
  EXPECT_FALSE(synthesize(
      topology, problem(topology, CollectiveKind::kAllGather, 900), {.engine = "multicast"}));
}

/// Marks the NPUs that a branch reaches; false when it is broken, or comes to an NPU again.
bool follow(const Topology& topology, std::span<const LinkId> branch, std::vector<bool>& reached) {
  NodeId at = topology.link(branch.front()).src;
  bool good = topology.is_npu(at) && reached[at.index()];
  for (const LinkId link : branch) {
    good = good && topology.link(link).src == at;
    at = topology.link(link).dst;
    if (topology.is_npu(at)) {
      good = good && !reached[at.index()];
      reached[at.index()] = true;
    }
  }
  return good;
}

/// Whether the tree is one, begins at `root` and comes to all of the group.
bool spans(const Topology& topology,
           const multicast::SteinerTrees& trees,
           std::size_t tree,
           NodeId root,
           std::span<const NodeId> group) {
  std::vector<bool> reached(topology.num_npus(), false);
  reached[root.index()] = true;
  bool good = true;
  for (std::uint32_t branch = trees.first[tree]; branch < trees.first[tree + 1]; ++branch) {
    good = follow(topology, trees.branches.of(branch), reached) && good;
  }
  return good && std::all_of(group.begin(), group.end(), [&](NodeId member) {
           return reached[member.index()];
         });
}

TEST(SteinerTrees, SpanTheGroupAndBranchOnlyAtNpus) {
  const std::vector<NodeId> group{NodeId(0), NodeId(3), NodeId(6), NodeId(13)};
  for (const char* spec : {"mesh:4x4", "h100:2", "leaf-spine:4x4x2"}) {
    const Topology topology = network(spec);
    const multicast::SteinerTrees trees =
        multicast::pack_steiner_trees(topology, group, group, 5, {1'000'000}, {.sweeps = 4});
    ASSERT_EQ(trees.first.size(), 21);
    for (std::size_t tree = 0; tree < 20; ++tree) {
      EXPECT_TRUE(spans(topology, trees, tree, group[tree / 5], group)) << spec << ' ' << tree;
    }
  }
}

}  // namespace
}  // namespace tacos
