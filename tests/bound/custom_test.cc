// SPDX-License-Identifier: MIT
// Bounds of collectives from a file: certificates, and the bounds of collectives that they imitate.
#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tacos/bound.h"

#include "base/numbers/rng.h"
#include "support/random_network.h"

namespace tacos {
namespace {

using ::testing::HasSubstr;

BoundReport judge(const Topology& topology, const Collective& collective) {
  Result<BoundReport> report = compute_bounds(topology, collective);
  EXPECT_TRUE(report) << report.error().to_string();
  for (const Bound* bound : {&report->best, &report->bandwidth}) {
    if (report->status == BoundStatus::kProven) {
      const Result<Ticks> checked = check_certificate(topology, collective, bound->certificate);
      EXPECT_TRUE(checked) << checked.error().to_string();
      EXPECT_EQ(checked ? *checked : Ticks{-1}, bound->time);
    }
  }
  return *std::move(report);
}

/// The same as an All-Gather, Reduce-Scatter, ... with one chunk per participant.
Collective imitation(const Collective& collective) {
  std::vector<CustomChunk> chunks;
  for (std::uint32_t c = 0; c < collective.num_chunks(); ++c) {
    const ChunkId chunk(c);
    CustomChunk made{.bytes = collective.chunks().bytes(chunk),
                     .sources = {},
                     .destinations = {},
                     .reduces = collective.reduces(chunk)};
    for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
      const NodeId npu = collective.participants()[p];
      if (collective.starts_with(chunk, p)) {
        made.sources.push_back(npu);
      }
      if (collective.ends_with(chunk, p)) {
        made.destinations.push_back(npu);
      }
    }
    chunks.push_back(std::move(made));
  }
  return Collective::custom("imitation", std::move(chunks)).value();
}

TEST(CustomBound, IsNotAboveThatOfTheCollectiveItImitates) {
  for (const char* spec : {"mesh:4x4", "torus:3x3,bw=50GBps/25GBps", "a100:2", "dragonfly:4x3"}) {
    const Topology topology = parse_topology_spec(spec).value();
    for (const CollectiveKind kind : collective_kinds()) {
      const Collective known =
          Collective::over_all(kind, Bytes{720'000'000}, 1, topology.num_npus()).value();
      const BoundReport exact = judge(topology, known);
      const BoundReport custom = judge(topology, imitation(known));
      EXPECT_LE(custom.bandwidth.time, exact.bandwidth.time) << spec << " " << to_string(kind);
      EXPECT_GT(custom.bandwidth.time.ps, 0) << spec << " " << to_string(kind);
      EXPECT_GE(custom.best.time, custom.bandwidth.time);
    }
  }
}

TEST(CustomBound, IsTheIngressOfAMeshCorner) {
  const Topology topology = parse_topology_spec("mesh:8x8").value();
  const Collective gather =
      Collective::over_all(CollectiveKind::kAllGather, Bytes{64'000'000}, 1, 64).value();
  EXPECT_EQ(judge(topology, imitation(gather)).bandwidth.time,
            judge(topology, gather).bandwidth.time);
}

TEST(CustomBound, CountsTheWayOfASingleChunk) {
  const Topology topology = parse_topology_spec("mesh:5x1,bw=1GBps,lat=1us").value();
  const Collective far = Collective::custom("far",
                                            {{.bytes = {1'000},
                                              .sources = {NodeId(0), NodeId(1)},
                                              .destinations = {NodeId(4)},
                                              .reduces = false}})
                             .value();
  const BoundReport report = judge(topology, far);
  EXPECT_EQ(report.best.time.ps, 3'000'000 + 1'000'000);
  EXPECT_EQ(report.best.name, "combined");
  EXPECT_THAT(explain(topology, far, report.best.certificate),
              HasSubstr("NPU 4 must receive 1 KB"));
}

TEST(CustomBound, IsZeroWhenAllIsThere) {
  const Topology topology = parse_topology_spec("ring:3").value();
  const Collective there = Collective::custom("there",
                                              {{.bytes = {1},
                                                .sources = {NodeId(0), NodeId(1)},
                                                .destinations = {NodeId(1)},
                                                .reduces = false}})
                               .value();
  EXPECT_EQ(judge(topology, there).best.time.ps, 0);
}

TEST(CustomBound, NamesWhoCannotBeReached) {
  const Result<DegradedTopology> cut =
      apply_failures(parse_topology_spec("mesh:3x1").value(), std::vector<std::string>{"link:0>1"});
  const auto chunk = [](bool reduces) {
    return Collective::custom("c",
                              {{.bytes = {1},
                                .sources = {NodeId(0), NodeId(1)},
                                .destinations = {NodeId(2)},
                                .reduces = reduces}})
        .value();
  };
  EXPECT_EQ(judge(cut->topology, chunk(false)).status, BoundStatus::kProven);
  const BoundReport report = judge(cut->topology, chunk(true));
  ASSERT_EQ(report.status, BoundStatus::kInfeasible);
  EXPECT_EQ(*report.unreachable, std::pair(NodeId(0), NodeId(2)));
}

TEST(CustomBound, HasACheckedCertificateOnRandomNetworks) {
  Rng rng(7);
  for (std::uint64_t number = 0; number < 40; ++number) {
    const Topology topology = testing::random_network(number);
    std::vector<CustomChunk> chunks;
    for (int c = 0; c < 6; ++c) {
      CustomChunk chunk{.bytes = {static_cast<std::int64_t>(1 + rng.below(1'000'000))},
                        .sources = {},
                        .destinations = {},
                        .reduces = rng.below(2) == 0};
      for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
        if (npu == 0 || rng.below(3) == 0) {
          chunk.sources.emplace_back(npu);
        }
        if (npu + 1 == topology.num_npus() || rng.below(3) == 0) {
          chunk.destinations.emplace_back(npu);
        }
      }
      chunks.push_back(std::move(chunk));
    }
    const BoundReport report =
        judge(topology, Collective::custom("random", std::move(chunks)).value());
    EXPECT_GE(report.best.time, report.bandwidth.time);
  }
}

}  // namespace
}  // namespace tacos
