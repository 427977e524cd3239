// SPDX-License-Identifier: MIT
// Custom collectives: every schedule verifies and is not below its bound.
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/numbers/rng.h"
#include "support/problems.h"
#include "support/random_network.h"

namespace tacos::testing {
namespace {

Collective random_collective(std::uint64_t seed, std::uint32_t npus) {
  Rng rng(seed);
  std::vector<CustomChunk> chunks;
  for (std::uint32_t c = 0; c < 1 + rng.below(12); ++c) {
    CustomChunk chunk{.bytes = {static_cast<std::int64_t>(1 + rng.below(1'000'000))},
                      .sources = {NodeId(rng.below(npus))},
                      .destinations = {NodeId(rng.below(npus))},
                      .reduces = rng.below(2) == 0};
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      if (rng.below(4) == 0 && NodeId(npu) != chunk.sources.front()) {
        chunk.sources.emplace_back(npu);
      }
      if (rng.below(4) == 0 && NodeId(npu) != chunk.destinations.front()) {
        chunk.destinations.emplace_back(npu);
      }
    }
    chunks.push_back(std::move(chunk));
  }
  return Collective::custom("random", std::move(chunks)).value();
}

TEST(CustomEngine, MakesValidSchedulesOnRandomNetworks) {
  for (std::uint64_t number = 0; number < 100; ++number) {
    const Topology topology = random_network(number);
    for (const LinkModel model : {LinkModel::kHold, LinkModel::kPipelined}) {
      (void)synthesize_verified(topology,
                                custom_problem(random_collective(number, topology.num_npus())),
                                {.link_model = model});
    }
  }
}

TEST(CustomEngine, TakesRoutesThroughSwitches) {
  for (const char* spec : {"a100:2", "fat-tree:4", "leaf-spine:4x4x2", "rail:2x4", "ndv2:2"}) {
    const Topology topology = network(spec);
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      (void)synthesize_verified(topology,
                                custom_problem(random_collective(seed, topology.num_npus())));
    }
  }
}

TEST(CustomEngine, RelaysOverNpusThatTakeNoPart) {
  const Topology topology = network("mesh:5x1,bw=1GBps,lat=1us");
  const Synthesis made =
      synthesize_verified(topology,
                          custom_problem(Collective::custom("far",
                                                            {{.bytes = {1'000},
                                                              .sources = {NodeId(0)},
                                                              .destinations = {NodeId(4)},
                                                              .reduces = false}})
                                             .value()));
  EXPECT_EQ(made.engine, "custom");
  EXPECT_EQ(made.schedule->num_transfers(), 4U);
  EXPECT_EQ(made.schedule->collective_time().ps, 4 * 2'000'000);
}

TEST(CustomEngine, SpreadsChunksOverParallelWays) {
  // Two chunks from one corner of a square to the other: one on either side.
  const Topology topology = network("mesh:2x2");
  const CustomChunk chunk{
      .bytes = {50'000'000}, .sources = {NodeId(0)}, .destinations = {NodeId(3)}, .reduces = false};
  const Synthesis made = synthesize_verified(
      topology, custom_problem(Collective::custom("two", {chunk, chunk}).value()));
  EXPECT_EQ(made.schedule->collective_time().ps, 2 * (1'000'000'000 + 500'000));
}

TEST(CustomEngine, AddsWhereAllDestinationsCanBeReachedFrom) {
  // NPU 0 receives but does not send, so the sum cannot be made there and copied.
  const Topology topology =
      apply_failures(network("switch:4"), std::vector<std::string>{"link:0>4"})->topology;
  const Synthesis made = synthesize_verified(
      topology,
      custom_problem(Collective::custom("sum",
                                        {{.bytes = {1'000},
                                          .sources = {NodeId(2), NodeId(3)},
                                          .destinations = {NodeId(0), NodeId(1)},
                                          .reduces = true}})
                         .value()));
  EXPECT_EQ(made.status, SynthesisStatus::kFeasible);
}

TEST(CustomEngine, SaysWhenNoNpuCanAddForAllDestinations) {
  TopologyBuilder builder("two to two", 4);
  for (const auto& [from, to] : {std::pair(0, 2), {0, 3}, {1, 2}, {1, 3}}) {
    builder.add_link({.src = NodeId(static_cast<std::uint32_t>(from)),
                      .dst = NodeId(static_cast<std::uint32_t>(to)),
                      .bandwidth = {1'000'000'000},
                      .latency = {}});
  }
  const Result<Synthesis> made =
      synthesize(*std::move(builder).build(),
                 custom_problem(Collective::custom("sum",
                                                   {{.bytes = {1},
                                                     .sources = {NodeId(0), NodeId(1)},
                                                     .destinations = {NodeId(2), NodeId(3)},
                                                     .reduces = true}})
                                    .value()));
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message,
              ::testing::HasSubstr("give each destination a chunk of its own"));
}

TEST(CustomEngine, NamesThePairThatNoPathJoins) {
  const Topology topology =
      apply_failures(network("mesh:3x1"), std::vector<std::string>{"link:0>1"})->topology;
  const Result<Synthesis> made =
      synthesize(topology,
                 custom_problem(Collective::custom("cut",
                                                   {{.bytes = {1},
                                                     .sources = {NodeId(0)},
                                                     .destinations = {NodeId(2)},
                                                     .reduces = false}})
                                    .value()));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->status, SynthesisStatus::kInfeasible);
  EXPECT_EQ(*made->unreachable, std::pair(NodeId(0), NodeId(2)));
}

TEST(IdleNpus, ChangeNothing) {
  const Topology left =
      apply_failures(network("mesh:4x4"), std::vector<std::string>{"npu:15", "npu:5"})->topology;
  for (const CollectiveKind kind : {CollectiveKind::kAllGather,
                                    CollectiveKind::kReduceScatter,
                                    CollectiveKind::kAllReduce,
                                    CollectiveKind::kScatter}) {
    Problem task = problem(left, kind, 14'000'000);
    std::erase(task.participants, NodeId(5));
    std::erase(task.participants, NodeId(15));
    const Synthesis made = synthesize_verified(left, task);
    ASSERT_EQ(made.status, SynthesisStatus::kFeasible);
    EXPECT_EQ(made.collective->num_participants(), 14U);
    EXPECT_EQ(made.collective->participants().back(), NodeId(14));
  }
}

}  // namespace
}  // namespace tacos::testing
