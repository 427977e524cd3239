// SPDX-License-Identifier: MIT
#include "synthesis/trees/trees.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tacos/bound.h"
#include "tacos/verify.h"

#include "base/numbers/rng.h"
#include "support/problems.h"
#include "support/random_network.h"
#include "support/simple_allreduce_check.h"

namespace tacos {
namespace {

Problem all_reduce(const Topology& topology, Bytes size, std::optional<std::int64_t> chunks = {}) {
  Problem problem{
      .kind = CollectiveKind::kAllReduce, .size = size, .chunks = chunks, .participants = {}};
  for (std::uint32_t v = 0; v < topology.num_npus(); ++v) {
    problem.participants.emplace_back(v);
  }
  return problem;
}

EngineOptions with(LinkModel model) {
  EngineOptions options;
  options.link_model = model;
  return options;
}

using testing::network;

Candidate must_make(const Topology& topology, const Problem& problem, LinkModel model) {
  Result<Candidate> made = trees::synthesize(topology, problem, with(model));
  EXPECT_TRUE(made) << made.error().to_string();
  if (topology.num_switches() == 0) {
    EXPECT_EQ(testing::check_allreduce(topology, made->collective, made->schedule, model),
              std::nullopt);
  }
  VerifyOptions options;
  options.link_model = model;
  const Result<VerifyReport> report = verify(topology, made->collective, made->schedule, options);
  EXPECT_TRUE(report && report->valid());
  return std::move(*made);
}

/// A random ring through all NPUs makes it strongly connected; more links come at random.
Topology random_network(std::uint64_t seed, bool directed) {
  Rng rng(seed);
  const std::uint32_t nodes = 2 + rng.below(12);
  TopologyBuilder builder("random", nodes);
  const auto add = [&](std::uint32_t a, std::uint32_t b) {
    const Link link{NodeId(a),
                    NodeId(b),
                    {1'000'000'000LL * (1 + rng.below(100))},
                    {std::int64_t{rng.below(3)} * 250'000}};
    if (directed) {
      builder.add_link(link);
    } else {
      builder.add_both(link);
    }
  };
  for (std::uint32_t v = 0; v < nodes; ++v) {
    add(v, (v + 1) % nodes);
  }
  for (std::uint32_t extra = rng.below(3 * nodes); extra > 0; --extra) {
    const std::uint32_t a = rng.below(nodes);
    const std::uint32_t b = rng.below(nodes);
    if (a != b) {
      add(a, b);
      if (rng.below(4) == 0) {
        add(a, b);
      }
    }
  }
  return *std::move(builder).build();
}

TEST(Trees, MakesValidSchedulesOnRandomNetworks) {
  for (std::uint64_t seed = 0; seed < 36; ++seed) {
    const Topology topology = random_network(seed, seed % 2 == 0);
    Rng rng(seed);
    const Bytes size{1 + static_cast<std::int64_t>(rng.below(1U << (1 + seed % 24)))};
    const LinkModel model = seed % 3 == 0 ? LinkModel::kPipelined : LinkModel::kHold;
    SCOPED_TRACE("seed " + std::to_string(seed));
    (void)must_make(topology, all_reduce(topology, size), model);
  }
}

TEST(Trees, UsesExactlyTheChunksThatItIsTold) {
  for (const std::uint32_t chunks : {1U, 2U, 3U, 7U, 16U, 50U, 129U}) {
    for (const LinkModel model : {LinkModel::kHold, LinkModel::kPipelined}) {
      const Topology topology = network("mesh:3x4,bw=50GBps/20GBps");
      const Candidate made = must_make(topology, all_reduce(topology, {100'003}, chunks), model);
      EXPECT_EQ(made.collective.num_chunks(), chunks);
    }
  }
}

TEST(Trees, WorksOnTwoNpus) {
  const Topology topology = network("ring:2");
  for (const std::int64_t size : {1, 2, 1000, 1'000'000'000}) {
    (void)must_make(topology, all_reduce(topology, {size}), LinkModel::kHold);
    (void)must_make(topology, all_reduce(topology, {size}), LinkModel::kPipelined);
  }
}

TEST(Trees, WorksOnParallelAndOneWayLinks) {
  TopologyBuilder builder("one way round, twice on one side", 3);
  for (const auto& [a, b] :
       std::vector<std::pair<std::uint32_t, std::uint32_t>>{{0, 1}, {0, 1}, {1, 2}, {2, 0}}) {
    builder.add_link({NodeId(a), NodeId(b), {50'000'000'000}, {500'000}});
  }
  const Topology topology = *std::move(builder).build();
  (void)must_make(topology, all_reduce(topology, {1 << 20}), LinkModel::kHold);
  (void)must_make(topology, all_reduce(topology, {1 << 20}), LinkModel::kPipelined);
}

TEST(Trees, GivesTheSameBytesForASeed) {
  const Topology topology = network("mesh:4x5,bw=50GBps/75GBps");
  const Problem problem = all_reduce(topology, {64 << 20});
  EngineOptions options;
  const Result<Candidate> once = trees::synthesize(topology, problem, options);
  options.threads = 2;
  const Result<Candidate> again = trees::synthesize(topology, problem, options);
  EXPECT_EQ(once->schedule.hash(), again->schedule.hash());
  EXPECT_EQ(once->schedule.totals(), again->schedule.totals());
}

TEST(Trees, MoreTrialsAreNeverWorse) {
  const Topology topology = network("mesh:3x5");
  const Problem problem = all_reduce(topology, {1 << 20});
  EngineOptions options;
  const Result<Candidate> one = trees::synthesize(topology, problem, options);
  options.trials = 4;
  const Result<Candidate> four = trees::synthesize(topology, problem, options);
  EXPECT_EQ(four->trials, 4);
  EXPECT_LE(four->schedule.collective_time(), one->schedule.collective_time());
}

/// Percent of the time that the bandwidth of all links together allows.
double efficiency(const Topology& topology, LinkModel model) {
  constexpr Bytes kSize{1LL << 30U};
  const Candidate made = must_make(topology, all_reduce(topology, kSize), model);
  double total = 0;
  for (const Link& link : topology.links()) {
    total += static_cast<double>(link.bandwidth.bytes_per_second);
  }
  const double bound_us =
      2.0 * (topology.num_npus() - 1) * static_cast<double>(kSize.count) / total * 1e6;
  return 100 * bound_us / to_us(made.schedule.collective_time());
}

TEST(Trees, ReachesTheBandwidthOfMeshes) {
  for (const char* spec : {"mesh:4x4", "mesh:5x5", "mesh:3x3x3", "mesh:4x4,bw=100GBps/50GBps"}) {
    SCOPED_TRACE(spec);
    EXPECT_GE(efficiency(network(spec), LinkModel::kHold), 95);
    EXPECT_GE(efficiency(network(spec), LinkModel::kPipelined), 99);
  }
}

TEST(Trees, UsesSlowLinksThatShortestPathsAvoid) {
  // Every tree must hold all fast links and every slow link must be in a quarter of the trees:
  // exchanges at a node alone do not find that.
  EXPECT_GE(efficiency(network("mesh:4x4,bw=50GBps/200GBps"), LinkModel::kPipelined), 98);
}

TEST(Trees, DoublesWhereIdsAndLinksAllowIt) {
  // A latency for each dimension and hardly more; over a tree it would be twice as many.
  for (const char* spec : {"hypercube:5", "torus:4x4", "hypercube:3,bw=50GBps/20GBps/80GBps"}) {
    for (const LinkModel model : {LinkModel::kHold, LinkModel::kPipelined}) {
      SCOPED_TRACE(spec);
      const Topology topology = network(spec);
      const Candidate made = must_make(topology, all_reduce(topology, {1024}), model);
      const double steps = std::log2(topology.num_npus());
      EXPECT_LE(to_us(made.schedule.collective_time()), 0.53 * steps);
    }
  }
  const Topology topology = network("hypercube:4");
  for (const std::int64_t chunks : {1, 3, 4, 9}) {
    (void)must_make(topology, all_reduce(topology, {1000}, chunks), LinkModel::kHold);
  }
}

TEST(Trees, HalvesAndDoublesMessagesOfMiddleSize) {
  // Two latencies for each dimension, and each byte over 2 (1 - 1/N) links of all dimensions.
  for (const char* spec : {"hypercube:5", "torus:4x4x4", "switch:16"}) {
    SCOPED_TRACE(spec);
    const Topology topology = network(spec);
    const Candidate made = must_make(topology, all_reduce(topology, {1 << 20U}), LinkModel::kHold);
    const double steps = std::log2(topology.num_npus());
    const double links = topology.num_switches() > 0 ? 1 : steps;
    const double bytes_us = 2.0 * (1 << 20U) / (links * 50e3);
    EXPECT_LE(to_us(made.schedule.collective_time()), 2 * 0.5 * steps + bytes_us);
  }
}

TEST(Trees, SavesAHopWhereTwoNpusMeet) {
  // Eight hops up and eight down from any NPU, but from an edge seven, one across, seven.
  const Topology topology = network("torus:8x8");
  const Candidate made = must_make(topology, all_reduce(topology, {64}), LinkModel::kPipelined);
  EXPECT_LT(to_us(made.schedule.collective_time()), 7.6);
}

TEST(Trees, RefusesTimesThatOverflow) {
  TopologyBuilder builder("slow", 2);
  builder.add_both({NodeId(0), NodeId(1), {1}, {0}});
  const Topology topology = *std::move(builder).build();
  EXPECT_FALSE(trees::synthesize(topology, all_reduce(topology, {1LL << 40U}), {}));
}

TEST(Trees, RefusesOtherCollectives) {
  const Topology topology = network("ring:4");
  Problem problem = all_reduce(topology, {1000});
  problem.kind = CollectiveKind::kAllToAll;
  const Result<Candidate> made = trees::synthesize(topology, problem, {});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kInput);
}

/// Everything but All-to-All and its kin, over some or all NPUs.
Problem random_problem(const Topology& topology, std::uint64_t seed) {
  constexpr std::array kKinds{CollectiveKind::kAllReduce,
                              CollectiveKind::kBroadcast,
                              CollectiveKind::kReduce,
                              CollectiveKind::kAllGather,
                              CollectiveKind::kReduceScatter};
  Rng rng(seed);
  Problem problem{
      .kind = kKinds[seed % kKinds.size()], .size = {}, .chunks = {}, .participants = {}};
  const bool everybody = rng.below(3) == 0;
  for (std::uint32_t v = 0; v < topology.num_npus(); ++v) {
    if (everybody || rng.below(2) == 0 || v + 2 >= topology.num_npus()) {
      problem.participants.emplace_back(v);
    }
  }
  if (is_rooted(problem.kind)) {
    const auto any = static_cast<std::uint32_t>(problem.participants.size());
    problem.root = problem.participants[rng.below(any)];
  }
  const std::int64_t least = static_cast<std::int64_t>(problem.participants.size()) * 3;
  problem.size.count = least + rng.below(1U << (1 + seed % 22));
  if (rng.below(3) == 0) {
    problem.chunks = 1 + rng.below(3);
  }
  return problem;
}

TEST(Trees, MakesEveryCollectiveThroughSwitchesAndRelays) {
  std::uint32_t made = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Topology topology =
        seed % 3 == 0 ? testing::random_network(seed) : testing::random_switched_network(seed);
    const Problem problem = random_problem(topology, seed);
    if (problem.participants.size() < 2 || !trees::handles(topology, problem)) {
      continue;
    }
    const LinkModel model = seed % 2 == 0 ? LinkModel::kPipelined : LinkModel::kHold;
    const Result<Candidate> candidate = trees::synthesize(topology, problem, with(model));
    ASSERT_TRUE(candidate) << candidate.error().to_string();
    VerifyOptions options;
    options.link_model = model;
    const Result<VerifyReport> report =
        verify(topology, candidate->collective, candidate->schedule, options);
    ASSERT_TRUE(report && report->valid());
    EXPECT_EQ(problem.chunks.value_or(candidate->collective.chunk_argument()),
              candidate->collective.chunk_argument());
    ++made;
  }
  EXPECT_GT(made, 40U);
}

/// Percent of the exact bandwidth bound at 1 GiB.
double share_of_bound(const Topology& topology, const Problem& problem, LinkModel model) {
  const Result<Candidate> made = trees::synthesize(topology, problem, with(model));
  EXPECT_TRUE(made);
  const Result<BoundReport> bounds =
      compute_bounds(topology, made->collective, {.link_model = model});
  VerifyOptions options;
  options.link_model = model;
  const Result<VerifyReport> report = verify(topology, made->collective, made->schedule, options);
  EXPECT_TRUE(report && report->valid());
  return 100 * to_us(bounds->bandwidth.time) / to_us(made->schedule.collective_time());
}

TEST(Trees, PacksArborescencesUpToTheNarrowestCut) {
  // Six trees fit between the halves of this machine, which greedy choices do not find.
  const Topology topology = network("mi250:1");
  for (const CollectiveKind kind : {CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
    Problem problem = all_reduce(topology, {1LL << 30U});
    problem.kind = kind;
    problem.root = NodeId(0);
    EXPECT_GE(share_of_bound(topology, problem, LinkModel::kHold), 91);
  }
}

TEST(Trees, ReachesTheBoundOfGroupsThroughRelays) {
  const Topology topology = network("mesh:6x6");
  for (const CollectiveKind kind : {CollectiveKind::kAllReduce,
                                    CollectiveKind::kBroadcast,
                                    CollectiveKind::kAllGather,
                                    CollectiveKind::kReduceScatter}) {
    Problem problem{.kind = kind, .size = {1LL << 30U}, .chunks = {}, .participants = {}};
    for (const std::uint32_t npu : {0U, 5U, 14U, 21U, 30U, 35U}) {
      problem.participants.emplace_back(npu);
    }
    EXPECT_GE(share_of_bound(topology, problem, LinkModel::kHold), 94) << to_string(kind);
  }
}

TEST(Trees, SpreadsABroadcastOverAllLinksBetweenBoxes) {
  // From the root alone all trees would cross its own slow link.
  const Topology topology = network("a100:2");
  Problem problem = all_reduce(topology, {1LL << 30U});
  problem.kind = CollectiveKind::kBroadcast;
  problem.root = NodeId(0);
  EXPECT_GE(share_of_bound(topology, problem, LinkModel::kHold), 90);
}

TEST(Trees, WritesManyTransfersThroughSwitchesDownAtOnce) {
  const auto broadcast = [](const char* name, std::int64_t bytes) {
    const Topology topology = network(name);
    Problem problem = all_reduce(topology, Bytes{bytes});
    problem.kind = CollectiveKind::kBroadcast;
    problem.root = NodeId(0);
    const Candidate made = must_make(topology, problem, LinkModel::kPipelined);
    EXPECT_GT(made.schedule.num_transfers(), 250'000U);
    return made.schedule.collective_time();
  };
  EXPECT_LE(broadcast("hetero-switch", 1 << 20), Ticks{5'570'000});
  // Where some links are direct, going back and forth again pays: without it this takes 16.1 us.
  EXPECT_LE(broadcast("ring:4*switch:16,bw=50GBps/100GBps", 2 << 20), Ticks{15'800'000});
}

TEST(Trees, RefusesMoreChunksThanBytes) {
  const Topology topology = network("ring:4");
  EXPECT_FALSE(trees::synthesize(topology, all_reduce(topology, {10}, 11), {}));
  EXPECT_FALSE(trees::synthesize(topology, all_reduce(topology, {10}, 0), {}));
}

}  // namespace
}  // namespace tacos
