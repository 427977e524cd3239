// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/patterns/orbits.h"
#include "schedule/patterns/pattern.h"
#include "support/forms.h"
#include "support/patterns.h"
#include "support/problems.h"
#include "support/symmetry.h"

namespace tacos::testing {
namespace {

using testing::kGiB;
constexpr std::array kKinds{
    CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce};

/// What `engine symmetric` makes, verified.
Synthesis symmetric(const std::string& spec,
                    CollectiveKind kind,
                    std::optional<std::int64_t> chunks = std::nullopt,
                    LinkModel model = LinkModel::kHold) {
  const Topology topology = network(spec);
  return synthesize_verified(topology,
                             problem(topology, kind, kGiB, chunks),
                             {.engine = "symmetric", .link_model = model});
}

TEST(Symmetric, MeetsTheBoundOfWholeChunksOnEveryTorus) {
  for (const char* spec : {"ring:3",
                           "ring:9",
                           "torus:3x3",
                           "torus:4x5",
                           "torus:2x7",
                           "torus:8x8",
                           "torus:11x13",
                           "torus:4x4x4",
                           "torus:2x3x4x5",
                           "hypercube:7",
                           "torus:32x32",
                           "torus:200x200",
                           "torus:34x34x34"}) {
    for (const LinkModel model : {LinkModel::kHold, LinkModel::kPipelined}) {
      const Synthesis made = symmetric(spec, CollectiveKind::kAllGather, 1, model);
      const Result<BoundReport> bound = compute_bounds(
          network(spec), *made.collective, {.effort = BoundEffort::kCheap, .link_model = model});
      ASSERT_TRUE(bound->chunk_count);
      // The bound takes all chunks to be the smallest, the schedule the largest: a byte each. Under
      // `pipelined` there is nothing but the owner's chunk to send until the first has arrived.
      const Ticks time = made.schedule->collective_time();
      const std::int64_t waiting = model == LinkModel::kHold ? 0 : 3 * 500'000;
      EXPECT_LE((time - bound->chunk_count->time).ps, waiting + time.ps / 10'000) << spec;
    }
  }
}

TEST(Symmetric, TakesTheStepsThatTheoryAllows) {
  // 0.5 us and 26,844 bytes, or 27,320, at 50 GB/s.
  EXPECT_EQ(symmetric("torus:200x200", CollectiveKind::kAllGather, 1).schedule->collective_time(),
            Ticks{10'000 * (500'000LL + 536'880)});
  EXPECT_EQ(symmetric("torus:34x34x34", CollectiveKind::kAllGather, 1).schedule->collective_time(),
            Ticks{6'551 * (500'000LL + 546'380)});
}

TEST(Symmetric, IsCloseToTheBandwidthWhereDimensionsDiffer) {
  struct Row {
    const char* spec;
    double efficiency;
  };
  for (const Row& row : {Row{"ring:2*fc:4*switch:8,bw=200GBps/100GBps/50GBps", 0.95},
                         Row{"switch:8*switch:4,bw=300GBps/25GBps", 0.98},
                         Row{"torus:8x8,bw=50GBps/100GBps", 0.99},
                         Row{"torus:8x8x8,bw=100GBps/50GBps/25GBps", 0.97}}) {
    for (const CollectiveKind kind : kKinds) {
      const Synthesis made = symmetric(row.spec, kind);
      const Result<BoundReport> bound = compute_bounds(network(row.spec), *made.collective);
      EXPECT_GE(static_cast<double>(bound->bandwidth.time.ps),
                row.efficiency * static_cast<double>(made.schedule->collective_time().ps))
          << row.spec;
    }
  }
}

TEST(Symmetric, WorksOnRandomProducts) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const std::string spec = random_product(seed);
    const Topology topology = network(spec);
    Rng rng(seed);
    const Problem asked = problem(topology,
                                  kKinds[rng.below(3)],
                                  1000 + rng.below(1'000'000),
                                  rng.below(2) == 0 ? std::nullopt : std::optional(2LL));
    if (topology.num_npus() == 1) {
      continue;
    }
    const SynthesisOptions options{
        .engine = "symmetric",
        .link_model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined};
    const Synthesis made = synthesize_verified(topology, asked, options);
    ASSERT_NE(testing::form_of<Pattern>(*made.schedule), nullptr);
    const Result<VerifyReport> replay = verify(
        topology, *made.collective, expanded(*made.schedule), {.link_model = options.link_model});
    EXPECT_TRUE(replay->valid()) << spec << ": " << replay->violations.front();
  }
}

TEST(Symmetric, MakesTheSameScheduleEveryTime) {
  const char* spec = "ring:4*switch:6,bw=200GBps/50GBps";
  const Synthesis first = symmetric(spec, CollectiveKind::kAllReduce);
  const Synthesis second = symmetric(spec, CollectiveKind::kAllReduce);
  EXPECT_EQ(first.schedule->totals(), second.schedule->totals());
  EXPECT_EQ(*testing::form_of<Pattern>(*first.schedule),
            *testing::form_of<Pattern>(*second.schedule));
}

TEST(Symmetric, IsChosenWhereItAppliesAndIsBest) {
  const auto engine = [](const std::string& spec) {
    const Topology topology = network(spec);
    return synthesize_verified(topology, problem(topology, CollectiveKind::kAllGather, kGiB))
        .engine;
  };
  EXPECT_EQ(engine("torus:4x4x4"), "symmetric");
  EXPECT_EQ(engine("torus:30x30"), "symmetric");
  EXPECT_EQ(engine("a100:2"), "symmetric");
  EXPECT_EQ(engine("dragonfly:10x11"), "symmetric");
  EXPECT_NE(engine("mesh:4x4"), "symmetric");
  EXPECT_NE(engine("mi250:1"), "symmetric");
}

TEST(Symmetric, LeavesSmallMessagesToWhoeverIsFaster) {
  const Topology topology = network("torus:4x4x4");
  const Problem asked = problem(topology, CollectiveKind::kAllGather, 64 * 1024);
  const Synthesis best = synthesize_verified(topology, asked);
  const Synthesis matched = synthesize_verified(topology, asked, {.engine = "matching"});
  EXPECT_LE(best.schedule->collective_time(), matched.schedule->collective_time());
}

TEST(Symmetric, LeavesSmallMessagesOfLargeNetworksToWhoeverIsFaster) {
  // A pattern of one chunk to a transfer takes ten times as long.
  const Topology topology = network("torus:10x10x10");
  const Synthesis best =
      synthesize_verified(topology, problem(topology, CollectiveKind::kAllGather, 64 * 1024));
  EXPECT_EQ(best.engine, "matching");
  EXPECT_LE(to_us(best.schedule->collective_time()), 1.3 * 7.5);
}

TEST(Symmetric, RefusesWhatIsNotSymmetric) {
  const Topology torus = network("torus:4x4");
  Problem some = problem(torus, CollectiveKind::kAllGather, kGiB);
  some.participants.pop_back();
  EXPECT_FALSE(synthesize(torus, some, {.engine = "symmetric"}));
  EXPECT_FALSE(
      synthesize(torus, problem(torus, CollectiveKind::kAllToAll, kGiB), {.engine = "symmetric"}));
  const Topology mesh = network("mesh:4x4");
  EXPECT_FALSE(
      synthesize(mesh, problem(mesh, CollectiveKind::kAllGather, kGiB), {.engine = "symmetric"}));
}

TEST(Symmetric, SparesTheSearchOfMatchingWhereThePatternIsNearTheBound) {
  const Topology topology = network("switch:8*switch:4,bw=300GBps/25GBps");
  const Synthesis large =
      synthesize_verified(topology, problem(topology, CollectiveKind::kAllGather, 1LL << 30U));
  ASSERT_EQ(large.compared.size(), 2);
  EXPECT_TRUE(large.compared[1].left_out);
  EXPECT_EQ(large.engine, "symmetric");
  const Synthesis small =
      synthesize_verified(topology, problem(topology, CollectiveKind::kAllGather, 1LL << 16U));
  ASSERT_GE(small.compared.size(), 2U);
  EXPECT_FALSE(small.compared[1].left_out);
}

TEST(Symmetric, SaysInOneSentenceThatNoSymmetriesWereFound) {
  const Topology petersen = petersen_graph();
  const Result<Synthesis> made = synthesize(
      petersen, problem(petersen, CollectiveKind::kAllGather, kGiB), {.engine = "symmetric"});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, ::testing::HasSubstr("no symmetries were found"));
  EXPECT_NE(
      synthesize_verified(petersen, problem(petersen, CollectiveKind::kAllGather, kGiB)).engine,
      "symmetric");
}

TEST(Symmetric, RefusesSwitchesThatAreOnlyPassedOneWay) {
  // From each NPU through a switch of its own to the next.
  TopologyBuilder builder("one-way", 4, 4);
  for (std::uint32_t npu = 0; npu < 4; ++npu) {
    Link link = kPlainLink;
    link.src = NodeId(npu);
    link.dst = NodeId(4 + npu);
    builder.add_link(link);
    link.src = link.dst;
    link.dst = NodeId((npu + 1) % 4);
    builder.add_link(link);
  }
  const Topology topology = std::move(builder).build().value();
  const Problem asked = problem(topology, CollectiveKind::kAllGather, kGiB);
  EXPECT_FALSE(synthesize(topology, asked, {.engine = "symmetric"}));
  EXPECT_NE(synthesize_verified(topology, asked).engine, "symmetric");
}

/// On a network that does not say what it is; verified, and not as a pattern of a product.
Synthesis found(const Topology& topology,
                CollectiveKind kind,
                std::optional<std::int64_t> chunks = std::nullopt,
                LinkModel model = LinkModel::kHold) {
  Synthesis made = synthesize_verified(topology,
                                       problem(topology, kind, kGiB, chunks),
                                       {.engine = "symmetric", .link_model = model});
  EXPECT_NE(testing::form_of<OrbitPattern>(*made.schedule), nullptr);
  return made;
}

TEST(Symmetric, IsAsFastOnAProductInDisguise) {
  for (const char* spec : {"ring:2",
                           "ring:9",
                           "torus:3x7",
                           "torus:8x8",
                           "torus:4x4x4",
                           "hypercube:6",
                           "fc:8",
                           "switch:9",
                           "torus:8x8,bw=50GBps/100GBps",
                           "torus:30x30"}) {
    for (const CollectiveKind kind : kKinds) {
      const Ticks known = symmetric(spec, kind).schedule->collective_time();
      for (const std::uint64_t seed : {0U, 1U, 2U}) {
        const Topology hidden = relabelled(network(spec), seed);
        EXPECT_EQ(found(hidden, kind).schedule->collective_time(), known) << spec;
      }
    }
  }
}

TEST(Symmetric, GoesOneWayRoundADirectedRing) {
  // Nothing but the one link into each NPU can bring what it lacks, or take away what it has.
  const Topology ring = directed_circulant(8, {1});
  const Ticks step{500'000 + (kGiB / 8 * 1'000'000 + 49'999) / 50'000};
  for (const CollectiveKind kind : kKinds) {
    const std::int64_t chunks = kind == CollectiveKind::kAllReduce ? 8 : 1;
    const std::int64_t steps = kind == CollectiveKind::kAllReduce ? 14 : 7;
    EXPECT_EQ(found(ring, kind, chunks).schedule->collective_time(), Ticks{steps * step.ps});
  }
}

TEST(Symmetric, WorksOnWhatIsNoProduct) {
  std::vector<Topology> networks{
      directed_circulant(10, {1, 3}),
      network("dragonfly:4x5,bw=400GBps/200GBps"),
      network("dragonfly:8x9"),
      network("a100:2"),
      network("h100:4"),
      graph(2, {{0, 1}}),
      graph(6, {{0, 3}, {0, 4}, {0, 5}, {1, 3}, {1, 4}, {1, 5}, {2, 3}, {2, 4}, {2, 5}})};
  for (const Topology& topology : networks) {
    for (const CollectiveKind kind : kKinds) {
      for (const LinkModel model : {LinkModel::kHold, LinkModel::kPipelined}) {
        const Synthesis made = found(topology, kind, std::nullopt, model);
        const Result<BoundReport> bound = compute_bounds(topology, *made.collective);
        EXPECT_GE(static_cast<double>(bound->bandwidth.time.ps),
                  0.9 * static_cast<double>(made.schedule->collective_time().ps))
            << topology.name();
      }
    }
  }
}

TEST(Symmetric, FindsTheSameScheduleEveryTime) {
  const Topology hidden = relabelled(network("torus:5x5"), 3);
  const Synthesis first = found(hidden, CollectiveKind::kAllReduce);
  const Synthesis second = found(hidden, CollectiveKind::kAllReduce);
  EXPECT_EQ(first.schedule->totals(), second.schedule->totals());
  EXPECT_EQ(*testing::form_of<OrbitPattern>(*first.schedule),
            *testing::form_of<OrbitPattern>(*second.schedule));
}

TEST(Symmetric, HasNothingToDoForOneNpu) {
  const Topology alone = network("fc:1");
  EXPECT_EQ(synthesize_verified(
                alone, problem(alone, CollectiveKind::kAllGather, kGiB), {.engine = "symmetric"})
                .engine,
            "none");
}

}  // namespace
}  // namespace tacos::testing
