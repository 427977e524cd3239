// SPDX-License-Identifier: MIT
// What books say of algorithms, on the networks that they were made for: exactly that.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/problems.h"
#include "support/random_task.h"
#include "synthesis/policy.h"

namespace tacos {
namespace {

using testing::network;
using testing::problem;
using testing::synthesize_verified;

constexpr std::array<std::string_view, 13> kBaselines{"ring",
                                                      "bidirectional-ring",
                                                      "direct",
                                                      "halving-doubling",
                                                      "double-binary-tree",
                                                      "blueconnect",
                                                      "themis",
                                                      "multitree",
                                                      "hierarchical",
                                                      "bruck",
                                                      "pairwise",
                                                      "binomial",
                                                      "rs-ag"};

// Links of 1 GB/s, on which a byte takes 1000 ps, and 1 us.
constexpr std::int64_t kLatency = 1'000'000;
constexpr std::int64_t kByte = 1'000;

/// With one piece of every part, so that steps can be counted, under `hold`.
std::int64_t time_of(const std::string& spec,
                     CollectiveKind kind,
                     const std::string& engine,
                     std::int64_t size,
                     std::int64_t chunks) {
  const Topology topology = network(spec + ",bw=1GBps,lat=1us");
  return synthesize_verified(topology, problem(topology, kind, size, chunks), {.engine = engine})
      .schedule->collective_time()
      .ps;
}

TEST(Baselines, RingOnARingTakesAStepForEachOther) {
  for (const std::int64_t n : {2, 3, 5, 8}) {
    const std::string spec = fmt::format("ring:{}", n);
    const std::int64_t step = kLatency + 4'096 * kByte;
    const std::int64_t all = 4'096 * n;
    EXPECT_EQ(time_of(spec, CollectiveKind::kAllGather, "ring", all, 1), (n - 1) * step);
    EXPECT_EQ(time_of(spec, CollectiveKind::kReduceScatter, "ring", all, 1), (n - 1) * step);
    EXPECT_EQ(time_of(spec, CollectiveKind::kAllReduce, "ring", all, n), 2 * (n - 1) * step);
    // In pieces that follow each other.
    const std::int64_t piece = kLatency + 1'024 * kByte;
    EXPECT_EQ(time_of(spec, CollectiveKind::kBroadcast, "ring", 4'096, 4), (n - 1 + 3) * piece);
    EXPECT_EQ(time_of(spec, CollectiveKind::kReduce, "ring", 4'096, 4), (n - 1 + 3) * piece);
  }
}

TEST(Baselines, BothWaysRoundARingIsHalfAsFar) {
  for (const std::int64_t n : {3, 5, 9}) {
    const std::string spec = fmt::format("ring:{}", n);
    const std::int64_t step = kLatency + 4'096 * kByte;
    EXPECT_EQ(time_of(spec, CollectiveKind::kAllGather, "bidirectional-ring", 4'096 * n, 1),
              (n - 1) / 2 * step);
    EXPECT_EQ(time_of(spec, CollectiveKind::kAllReduce, "bidirectional-ring", 4'096 * n, n),
              (n - 1) * step);
  }
}

TEST(Baselines, RingFindsTheCycleOfAMesh) {
  // By number the ring would pass NPUs, which do not forward.
  for (const char* spec : {"mesh:4x4", "mesh:6x5", "torus:4x4", "hypercube:4", "mesh:2x2x3"}) {
    const std::int64_t n = network(spec).num_npus();
    EXPECT_EQ(time_of(spec, CollectiveKind::kAllGather, "ring", 4'096 * n, 1),
              (n - 1) * (kLatency + 4'096 * kByte))
        << spec;
  }
}

TEST(Baselines, DirectIsOneStepWhereAllAreNeighbours) {
  for (const std::int64_t n : {2, 3, 8}) {
    const std::string spec = fmt::format("fc:{}", n);
    const std::int64_t step = kLatency + 4'096 * kByte;
    const std::int64_t all = 4'096 * n;
    EXPECT_EQ(time_of(spec, CollectiveKind::kAllGather, "direct", all, 1), step);
    EXPECT_EQ(time_of(spec, CollectiveKind::kAllReduce, "direct", all, n), 2 * step);
    for (const char* engine : {"direct", "pairwise"}) {
      EXPECT_EQ(time_of(spec, CollectiveKind::kAllToAll, engine, all, 1), step);
    }
    for (const CollectiveKind kind : {CollectiveKind::kGather, CollectiveKind::kScatter}) {
      EXPECT_EQ(time_of(spec, kind, "direct", all, 1), step);
    }
    for (const CollectiveKind kind : {CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
      EXPECT_EQ(time_of(spec, kind, "direct", 4'096, 1), step);
    }
  }
}

TEST(Baselines, HalvingAndDoublingOnAHypercubeTakesTwoLogSteps) {
  for (const std::int64_t dimensions : {1, 2, 3, 5}) {
    const std::int64_t n = std::int64_t{1} << dimensions;
    const std::string spec = fmt::format("hypercube:{}", dimensions);
    // (N-1)/N of the buffer each way.
    const std::int64_t way = dimensions * kLatency + (n - 1) * 4'096 * kByte;
    EXPECT_EQ(time_of(spec, CollectiveKind::kAllGather, "halving-doubling", 4'096 * n, 1), way);
    EXPECT_EQ(time_of(spec, CollectiveKind::kReduceScatter, "halving-doubling", 4'096 * n, 1), way);
    EXPECT_EQ(time_of(spec, CollectiveKind::kAllReduce, "halving-doubling", 4'096 * n, n), 2 * way);
  }
}

TEST(Baselines, BeyondAPowerOfTwoHalvingAndDoublingFoldsTheRest) {
  // Six: 5 hands its part to 1, which sends two to 0, which sends five to 4.
  EXPECT_EQ(time_of("fc:6", CollectiveKind::kAllGather, "halving-doubling", 6 * 4'096, 1),
            3 * kLatency + (1 + 2 + 5) * 4'096 * kByte);
}

TEST(Baselines, BruckTakesLogSteps) {
  for (const std::int64_t n : {2, 4, 7, 8}) {
    const auto steps = static_cast<std::int64_t>(std::ceil(std::log2(static_cast<double>(n))));
    const std::string spec = fmt::format("fc:{}", n);
    EXPECT_EQ(time_of(spec, CollectiveKind::kAllGather, "bruck", 4'096 * n, 1),
              steps * kLatency + (n - 1) * 4'096 * kByte);
  }
  // Half of the buffer in each step.
  EXPECT_EQ(time_of("fc:8", CollectiveKind::kAllToAll, "bruck", 4'096 * 8, 1),
            3 * (kLatency + 4 * 4'096 * kByte));
}

TEST(Baselines, BinomialTreesDoubleInEveryStep) {
  for (const std::int64_t n : {2, 4, 8, 16}) {
    const auto steps = static_cast<std::int64_t>(std::log2(static_cast<double>(n)));
    const std::string spec = fmt::format("fc:{}", n);
    for (const CollectiveKind kind : {CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
      EXPECT_EQ(time_of(spec, kind, "binomial", 4'096, 1), steps * (kLatency + 4'096 * kByte));
    }
    for (const CollectiveKind kind : {CollectiveKind::kScatter, CollectiveKind::kGather}) {
      // n/2 parts, then n/4, ...
      EXPECT_EQ(time_of(spec, kind, "binomial", 4'096 * n, 1),
                steps * kLatency + (n - 1) * 4'096 * kByte);
    }
  }
}

TEST(Baselines, TwoTreesBroadcastAtFullBandwidth) {
  // Through one port each: a piece in, a piece out. As pieces get many, the time of the buffer, but
  // for what is lost because nobody colours the edges.
  const Topology topology = network("switch:16,bw=1GBps,lat=0ns");
  const std::int64_t size = 1 << 20;
  const Synthesis made =
      synthesize_verified(topology,
                          problem(topology, CollectiveKind::kBroadcast, size, 1024),
                          {.engine = "double-binary-tree", .link_model = LinkModel::kPipelined});
  EXPECT_LT(made.schedule->collective_time().ps, size * kByte * 125 / 100);
}

TEST(Baselines, BlueConnectGoesDimensionByDimension) {
  // Four parts of 4 in rings of 4, then rings of 4 of what is left.
  EXPECT_EQ(time_of("torus:4x4", CollectiveKind::kAllGather, "blueconnect", 16 * 4'096, 1),
            3 * (kLatency + 4'096 * kByte) + 3 * (kLatency + 4 * 4'096 * kByte));
}

TEST(Baselines, ThemisKeepsBothDimensionsOfATorusBusy) {
  const Topology topology = network("torus:4x4,forward=no");
  const auto time = [&](const char* engine) {
    return synthesize_verified(topology,
                               problem(topology, CollectiveKind::kAllReduce, 1 << 26),
                               {.engine = engine, .link_model = LinkModel::kPipelined})
        .schedule->collective_time()
        .ps;
  };
  EXPECT_LT(time("themis") * 3, time("blueconnect") * 2);
}

TEST(Baselines, MultiTreeUsesEveryLinkOfAMesh) {
  const Topology topology = network("mesh:4x4");
  const Synthesis made = synthesize_verified(
      topology, problem(topology, CollectiveKind::kAllGather, 1 << 26), {.engine = "multitree"});
  const Synthesis ring = synthesize_verified(
      topology, problem(topology, CollectiveKind::kAllGather, 1 << 26), {.engine = "ring"});
  EXPECT_LT(made.schedule->collective_time(), ring.schedule->collective_time());
}

TEST(Baselines, MultiTreeIsForFewNpusUnlessAllIsAskedFor) {
  const auto tried = [](const char* name, int effort, const char* engine) {
    const Topology topology = network(name);
    EngineOptions options;
    options.effort = effort;
    options.engine = engine;
    const Result<EngineList> engines =
        engines_for(topology, problem(topology, CollectiveKind::kAllGather, 1 << 20), options);
    return std::any_of(engines->begin(), engines->end(), [](const EngineInfo* one) {
      return one->name == "multitree";
    });
  };
  EXPECT_TRUE(tried("switch:16", kDefaultEffort, "auto"));
  EXPECT_FALSE(tried("switch:17", kDefaultEffort, "auto"));
  EXPECT_TRUE(tried("switch:17", kMostEffort, "auto"));
  EXPECT_TRUE(tried("switch:17", kDefaultEffort, "multitree"));
}

TEST(Baselines, HierarchicalUsesAllPortsBetweenBoxes) {
  const Topology topology = network("h100:2");
  const auto time = [&](const char* engine) {
    return synthesize_verified(
               topology, problem(topology, CollectiveKind::kAllReduce, 1 << 28), {.engine = engine})
        .schedule->collective_time()
        .ps;
  };
  // A ring goes through two of sixteen.
  EXPECT_LT(time("hierarchical") * 4, time("ring"));
}

TEST(Baselines, SayWhyTheyDoNotApply) {
  const auto error_of = [](const char* spec, const char* engine, CollectiveKind kind) {
    const Topology topology = network(spec);
    const Result<Synthesis> made =
        synthesize(topology, problem(topology, kind, 1 << 20), {.engine = engine});
    EXPECT_FALSE(made);
    return made ? std::string() : made.error().to_string();
  };
  EXPECT_NE(error_of("mesh:3x3", "direct", CollectiveKind::kAllGather)
                .find("past other NPUs, which do not forward"),
            std::string::npos);
  EXPECT_NE(
      error_of("ring:8", "themis", CollectiveKind::kAllGather).find("two and more dimensions"),
      std::string::npos);
  EXPECT_NE(error_of("ring:8", "hierarchical", CollectiveKind::kAllGather).find("equal boxes"),
            std::string::npos);
  EXPECT_NE(error_of("ring:8", "bruck", CollectiveKind::kBroadcast).find("does not make broadcast"),
            std::string::npos);
}

TEST(Baselines, PassNpusOnlyWhereTheyForward) {
  const Topology plain = network("ring:5");
  const Topology forwarding = network("ring:5,forward=yes");
  const Problem task = problem(plain, CollectiveKind::kAllToAll, 5 * 1'000);
  EXPECT_FALSE(synthesize(plain, task, {.engine = "pairwise"}));
  const Synthesis made = synthesize_verified(forwarding, task, {.engine = "pairwise"});
  const Result<VerifyReport> refused = verify(plain, *made.collective, *made.schedule);
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->valid());
  // Cut-through: one serialization for two hops.
  EXPECT_LT(made.schedule->num_transfers(), 2U * 20U);
}

RC_GTEST_PROP(Baselines, AreRightOnEveryNetwork, ()) {
  const testing::Task task = testing::any_task();
  const Topology forwarding = task.topology.with_forwarding(true);
  const LinkModel model = *rc::gen::element(LinkModel::kHold, LinkModel::kPipelined);
  for (const std::string_view name : kBaselines) {
    for (const Topology* topology : {&task.topology, &forwarding}) {
      const SynthesisOptions options{.engine = std::string(name), .link_model = model};
      if (synthesize(*topology, task.problem, options)) {
        const Synthesis made = synthesize_verified(*topology, task.problem, options);
        RC_ASSERT(made.status == SynthesisStatus::kFeasible);
      }
    }
  }
}

}  // namespace
}  // namespace tacos
