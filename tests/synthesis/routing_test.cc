// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tacos/bound.h"

#include "support/problems.h"

namespace tacos {
namespace {

using testing::network;
using testing::problem;
using testing::synthesize_verified;

using testing::kGiB;

/// Bandwidth bound over collective time.
double share_of_bandwidth(const std::string& spec, CollectiveKind kind, LinkModel model) {
  const Topology topology = network(spec);
  const Synthesis made =
      synthesize_verified(topology, problem(topology, kind, kGiB), {.link_model = model});
  EXPECT_EQ(made.engine, "routing");
  const Result<BoundReport> bound = compute_bounds(topology, *made.collective);
  return to_us(bound->bandwidth.time) / to_us(made.schedule->collective_time());
}

constexpr auto kNetworks = {"mesh:4x4",
                            "mesh:5x5",
                            "mesh:3x3x3",
                            "torus:4x4x4",
                            "mesh:4x4,bw=100GBps/50GBps",
                            "dragonfly:4x5,bw=400GBps/200GBps",
                            "dgx1",
                            "switch:8*switch:4,bw=300GBps/25GBps",
                            "a100:2",
                            "h100:4",
                            "mi250:1",
                            "dgx2:2",
                            "ndv2:4"};

TEST(Routing, ReachesTheBandwidthBoundOfAllToAll) {
  for (const char* spec : {"mesh:5x5",
                           "torus:4x4x4",
                           "dragonfly:4x5,bw=400GBps/200GBps",
                           "dgx1",
                           "switch:8*switch:4,bw=300GBps/25GBps",
                           "dgx2:2"}) {
    EXPECT_GE(share_of_bandwidth(spec, CollectiveKind::kAllToAll, LinkModel::kHold), 0.97) << spec;
  }
}

TEST(Routing, ReachesTheBandwidthBoundOfGather) {
  for (const char* spec : kNetworks) {
    EXPECT_GE(share_of_bandwidth(spec, CollectiveKind::kGather, LinkModel::kHold), 0.97) << spec;
  }
}

TEST(Routing, ReachesTheBandwidthBoundOfScatter) {
  for (const char* spec : kNetworks) {
    EXPECT_GE(share_of_bandwidth(spec, CollectiveKind::kScatter, LinkModel::kHold), 0.97) << spec;
  }
}

TEST(Routing, ReachesTheBandwidthBoundWithoutHoldingLinks) {
  for (const CollectiveKind kind :
       {CollectiveKind::kAllToAll, CollectiveKind::kGather, CollectiveKind::kScatter}) {
    for (const char* spec : {"mesh:4x4", "dgx1", "a100:2"}) {
      EXPECT_GE(share_of_bandwidth(spec, kind, LinkModel::kPipelined), 0.98) << spec;
    }
  }
}

TEST(Routing, HasNothingToDoForOneNpuAndOneHopForTwo) {
  for (const CollectiveKind kind :
       {CollectiveKind::kAllToAll, CollectiveKind::kGather, CollectiveKind::kScatter}) {
    const Topology alone = network("ring:1");
    EXPECT_EQ(synthesize_verified(alone, problem(alone, kind, 1'000)).schedule->num_transfers(), 0);
    const Topology two = network("ring:2,bw=1GBps,lat=1us");
    const Synthesis made = synthesize_verified(two, problem(two, kind, 2'000, 1));
    EXPECT_EQ(made.schedule->num_transfers(), kind == CollectiveKind::kAllToAll ? 2 : 1);
    EXPECT_EQ(made.schedule->collective_time(), Ticks{2'000'000});
  }
}

TEST(Routing, CutsThroughSeveralSwitches) {
  // 0 - 2 - 3 - 4 - 1: three switches, 1 us each, the middle links half as fast.
  TopologyBuilder builder("line", 2, 3);
  const auto join = [&](std::uint32_t a, std::uint32_t b, std::int64_t speed) {
    builder.add_both({.src = NodeId(a),
                      .dst = NodeId(b),
                      .bandwidth = {speed * 1'000'000'000},
                      .latency = {1'000'000}});
  };
  join(0, 2, 2);
  join(2, 3, 1);
  join(3, 4, 1);
  join(4, 1, 2);
  const Topology topology = *std::move(builder).build();
  for (const CollectiveKind kind : {CollectiveKind::kGather, CollectiveKind::kScatter}) {
    const Synthesis made = synthesize_verified(topology, problem(topology, kind, 20'000, 1));
    EXPECT_EQ(made.schedule->num_transfers(), 1);
    // Four latencies and 10,000 bytes at 1 GB/s.
    EXPECT_EQ(made.schedule->collective_time(), Ticks{14'000'000});
  }
}

TEST(Routing, RelaysThroughNpusThatTakeNoPart) {
  const Topology topology = network("mesh:3x1");
  Problem task = problem(topology, CollectiveKind::kAllToAll, 1'000'000, 1);
  task.participants = {NodeId(0), NodeId(2)};
  EXPECT_EQ(synthesize_verified(topology, task).schedule->num_transfers(), 4);
}

TEST(Routing, NeedsOnlyTheWaysThatTheCollectiveTakes) {
  TopologyBuilder builder("one way", 3);
  for (std::uint32_t npu = 0; npu < 2; ++npu) {
    builder.add_link(
        {.src = NodeId(npu), .dst = NodeId(npu + 1), .bandwidth = {1'000'000'000}, .latency = {}});
  }
  const Topology topology = *std::move(builder).build();
  Problem task = problem(topology, CollectiveKind::kGather, 3'000, 1);
  task.root = NodeId(2);
  EXPECT_EQ(synthesize_verified(topology, task).status, SynthesisStatus::kFeasible);
  task.root = NodeId(1);
  const Synthesis cut = synthesize_verified(topology, task);
  EXPECT_EQ(cut.status, SynthesisStatus::kInfeasible);
  EXPECT_EQ(cut.unreachable, std::pair(NodeId(2), NodeId(1)));
  task.kind = CollectiveKind::kScatter;
  task.root = NodeId(0);
  EXPECT_EQ(synthesize_verified(topology, task).status, SynthesisStatus::kFeasible);
}

TEST(Routing, SharesTransfersWhenMessagesAreShort) {
  const Topology topology = network("mesh:8x8");
  const Synthesis made =
      synthesize_verified(topology, problem(topology, CollectiveKind::kAllToAll, 64'000));
  EXPECT_LT(4 * made.schedule->num_transfers(), made.schedule->totals().moves);
  // Fourteen hops of latency alone take 7 us.
  EXPECT_LT(to_us(made.schedule->collective_time()), 14.5);
}

TEST(Routing, RefusesOtherCollectivesAndEndlessOnes) {
  const Topology topology = network("ring:4");
  const Result<Synthesis> other = synthesize(
      topology, problem(topology, CollectiveKind::kAllGather, 1'000), {.engine = "routing"});
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, ::testing::HasSubstr("does not make all-gather"));
  const Topology slow = network("ring:2,bw=1Bps");
  const Result<Synthesis> endless =
      synthesize(slow, problem(slow, CollectiveKind::kAllToAll, 1'000'000'000'000'000));
  ASSERT_FALSE(endless);
  EXPECT_THAT(endless.error().message, ::testing::HasSubstr("53 days"));
}

TEST(Routing, RefusesARootThatTakesNoPart) {
  const Topology topology = network("ring:4");
  Problem task = problem(topology, CollectiveKind::kGather, 1'000);
  task.root = NodeId(9);
  const Result<Synthesis> made = synthesize(topology, task);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, ::testing::HasSubstr("root 9 takes no part"));
}

TEST(Routing, KeepsSmallMessagesInStep) {
  // The diameter of latencies is a lower bound; links that never wait take 1.6 times as long.
  for (const char* spec : {"mesh:8x8", "torus:8x8", "torus:4x4x4", "mesh:4x4"}) {
    const Topology topology = network(spec);
    const Synthesis made =
        synthesize_verified(topology, problem(topology, CollectiveKind::kAllToAll, 1'024));
    const Result<BoundReport> bound = compute_bounds(topology, *made.collective);
    EXPECT_GE(to_us(bound->best.time) / to_us(made.schedule->collective_time()), 0.98) << spec;
  }
}

TEST(Routing, ReportsProgressUpToTheEnd) {
  const Topology topology = network("mesh:8x8");
  double last = 0;
  bool within = true;
  const SynthesisOptions options{.engine = "routing", .progress = [&](double share) {
                                   within = within && share > 0 && share <= 1;
                                   last = share;
                                 }};
  const Synthesis made = synthesize_verified(
      topology, problem(topology, CollectiveKind::kAllToAll, 1LL << 26U), options);
  EXPECT_TRUE(within);
  EXPECT_GT(last, 0.99);
}

}  // namespace
}  // namespace tacos
