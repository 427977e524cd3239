// SPDX-License-Identifier: MIT
// What must hold for every network: RapidCheck draws the numbers, random_network the networks.
#include <filesystem>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include "tacos/bundle.h"

#include "support/problems.h"
#include "support/random_network.h"
#include "support/reference_matching.h"

namespace tacos {
namespace {

using testing::problem;
using testing::random_network;
using testing::synthesize_verified;

CollectiveKind any_kind() {
  const auto kinds = {CollectiveKind::kAllGather,
                      CollectiveKind::kReduceScatter,
                      CollectiveKind::kAllReduce,
                      CollectiveKind::kBroadcast,
                      CollectiveKind::kReduce,
                      CollectiveKind::kGather,
                      CollectiveKind::kScatter,
                      CollectiveKind::kAllToAll};
  return *rc::gen::elementOf(std::vector<CollectiveKind>(kinds));
}

/// Any collective over all NPUs, from or to any of them.
Problem any_problem(const Topology& topology, std::int64_t size, std::int64_t chunks) {
  Problem any = problem(topology, any_kind(), size, chunks);
  if (is_rooted(any.kind)) {
    any.root = *rc::gen::elementOf(any.participants);
  }
  return any;
}

LinkModel any_model() {
  return *rc::gen::element(LinkModel::kHold, LinkModel::kPipelined);
}

RC_GTEST_PROP(Synthesis, VerifiesOnEveryConnectedNetwork, ()) {
  const Topology topology = random_network(*rc::gen::arbitrary<std::uint64_t>(),
                                           {.directed = *rc::gen::arbitrary<bool>()});
  const auto chunks = *rc::gen::inRange<std::int64_t>(1, 5);
  const auto size = *rc::gen::inRange<std::int64_t>(1'000, 10'000'000);
  const SynthesisOptions options{.link_model = any_model(),
                                 .seed = *rc::gen::arbitrary<std::uint64_t>(),
                                 .trials = *rc::gen::inRange<std::int64_t>(1, 4)};
  const Synthesis made =
      synthesize_verified(topology, any_problem(topology, size, chunks), options);
  RC_ASSERT(made.status == SynthesisStatus::kFeasible);
}

RC_GTEST_PROP(Synthesis, VerifiesThroughSwitches, ()) {
  const Topology topology = testing::random_switched_network(*rc::gen::arbitrary<std::uint64_t>());
  const auto chunks = *rc::gen::inRange<std::int64_t>(1, 5);
  const auto size = *rc::gen::inRange<std::int64_t>(1'000, 10'000'000);
  const Synthesis made = synthesize_verified(
      topology, any_problem(topology, size, chunks), {.link_model = any_model()});
  RC_ASSERT(made.status == SynthesisStatus::kFeasible);
}

RC_GTEST_PROP(Synthesis, VerifiesOverGroupsWithRelays, ()) {
  const auto number = *rc::gen::arbitrary<std::uint64_t>();
  const Topology topology = *rc::gen::arbitrary<bool>() ? random_network(number)
                                                        : testing::random_switched_network(number);
  Problem task = problem(topology, any_kind(), 123'456, *rc::gen::inRange<std::int64_t>(1, 5));
  std::erase_if(task.participants, [&](NodeId npu) { return mix64(number, npu.value()) % 2 == 0; });
  RC_PRE(!task.participants.empty());
  const Synthesis made = synthesize_verified(topology, task, {.link_model = any_model()});
  RC_ASSERT(made.status == SynthesisStatus::kFeasible);
}

/// By walking: whether data of the first can come to the second.
std::vector<std::vector<bool>> reachable_pairs(const Topology& topology) {
  std::vector<std::vector<bool>> reach(topology.num_npus(),
                                       std::vector<bool>(topology.num_npus(), false));
  for (std::uint32_t i = 0; i < topology.num_npus(); ++i) {
    reach[i][i] = true;
    for (std::uint32_t round = 0; round < topology.num_npus(); ++round) {
      for (const Link& link : topology.links()) {
        reach[i][link.dst.index()] = reach[i][link.dst.index()] || reach[i][link.src.index()];
      }
    }
  }
  return reach;
}

/// Whether the collective needs data of the first at the second.
bool needs_way(const Problem& problem, NodeId from, NodeId to) {
  switch (problem.kind) {
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kScatter:
      return from == *problem.root;
    case CollectiveKind::kReduce:
    case CollectiveKind::kGather:
      return to == *problem.root;
    default:
      return true;
  }
}

RC_GTEST_PROP(Synthesis, IsInfeasibleExactlyWhenSomePairIsCutOff, ()) {
  const Topology topology =
      random_network(*rc::gen::arbitrary<std::uint64_t>(), {.connected = false});
  const Problem task = any_problem(topology, 10'000, 2);
  const auto reach = reachable_pairs(topology);
  bool whole = true;
  for (const NodeId from : task.participants) {
    for (const NodeId to : task.participants) {
      whole = whole && (reach[from.index()][to.index()] || !needs_way(task, from, to));
    }
  }
  const Synthesis made = synthesize_verified(topology, task);
  RC_ASSERT((made.status == SynthesisStatus::kFeasible) == whole);
  if (!whole) {
    const auto [from, to] = *made.unreachable;
    RC_ASSERT(!reach[from.index()][to.index()]);
    RC_ASSERT(needs_way(task, from, to));
  }
}

/// One-way networks: the root, or the end, of a tree of links that only lead away, or there.
RC_GTEST_PROP(Synthesis, GoesFromOrToARootWhereNothingComesBack, ()) {
  const auto number = *rc::gen::arbitrary<std::uint64_t>();
  Rng rng(number);
  const std::uint32_t npus = 2 + rng.below(10);
  const bool outwards = rng.below(2) == 0;
  TopologyBuilder builder("one-way", npus);
  for (std::uint32_t npu = 1; npu < npus; ++npu) {
    for (std::uint32_t links = 1 + rng.below(2); links > 0; --links) {
      const NodeId near(rng.below(npu));
      const NodeId far(npu);
      builder.add_link({.src = outwards ? near : far,
                        .dst = outwards ? far : near,
                        .bandwidth = {(1 + rng.below(4)) * 25'000'000'000LL},
                        .latency = {100'000LL * rng.below(8)}});
    }
  }
  const Topology topology = *std::move(builder).build();
  const CollectiveKind kind =
      rng.below(2) == 0 ? (outwards ? CollectiveKind::kBroadcast : CollectiveKind::kReduce)
                        : (outwards ? CollectiveKind::kScatter : CollectiveKind::kGather);
  Problem task = problem(topology, kind, *rc::gen::inRange<std::int64_t>(1'000, 10'000'000));
  task.root = NodeId(0);
  const Synthesis made = synthesize_verified(topology, task, {.link_model = any_model()});
  RC_ASSERT(made.status == SynthesisStatus::kFeasible);
}

RC_GTEST_PROP(Synthesis, IsNotMuchSlowerThanTheOracle, ()) {
  const Topology topology = random_network(*rc::gen::arbitrary<std::uint64_t>(), {.max_npus = 8});
  const LinkModel model = any_model();
  const auto chunks = *rc::gen::inRange<std::int64_t>(1, 4);
  const Synthesis made =
      synthesize_verified(topology,
                          problem(topology, CollectiveKind::kAllGather, 1'000'000, chunks),
                          {.link_model = model, .trials = 8});
  const Ticks time = made.schedule->collective_time();
  const Ticks oracle = testing::reference_all_gather(topology, *made.collective, model);
  // Greedy against greedy: either may win a case, none may lose it badly.
  RC_ASSERT(static_cast<double>(time.ps) <= 1.34 * static_cast<double>(oracle.ps));
}

RC_GTEST_PROP(Synthesis, GivesTheSameBytesOnAnyThreadCount, ()) {
  const Topology topology = random_network(*rc::gen::arbitrary<std::uint64_t>());
  const Problem task =
      problem(topology, any_kind(), 100'000, *rc::gen::inRange<std::int64_t>(1, 4));
  SynthesisOptions options{.seed = *rc::gen::arbitrary<std::uint64_t>(), .trials = 5};
  const Synthesis one = synthesize_verified(topology, task, options);
  options.threads = *rc::gen::inRange(2, 5);
  const Synthesis many = synthesize_verified(topology, task, options);
  RC_ASSERT(one.schedule->totals() == many.schedule->totals());
}

TEST(Synthesis, GivesTheSameBytesOnAnyThreadCountAtScale) {
  for (const char* spec : {"torus:24x24", "mesh:23x24,bw=50GBps/75GBps"}) {
    const Topology topology = testing::network(spec);
    const Problem task = problem(topology, CollectiveKind::kAllReduce, 1LL << 30U);
    const Synthesis one = synthesize_verified(topology, task, {.threads = 1});
    const Synthesis three = synthesize_verified(topology, task, {.threads = 3});
    EXPECT_EQ(one.schedule->totals(), three.schedule->totals()) << spec;
  }
}

RC_GTEST_PROP(Synthesis, ReversesAllGatherIntoReduceScatter, ()) {
  const Topology topology = random_network(*rc::gen::arbitrary<std::uint64_t>());
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const std::int64_t size = 10'000LL * topology.num_npus();
  const Synthesis scatter =
      synthesize_verified(topology,
                          problem(topology, CollectiveKind::kReduceScatter, size, 1),
                          {.engine = "matching", .seed = seed});
  const Topology turned = topology.reversed();
  const Synthesis gather = synthesize_verified(turned,
                                               problem(turned, CollectiveKind::kAllGather, size, 1),
                                               {.engine = "matching", .seed = seed});
  RC_ASSERT(scatter.schedule->collective_time() == gather.schedule->collective_time());
  RC_ASSERT(scatter.schedule->num_transfers() == gather.schedule->num_transfers());
}

RC_GTEST_PROP(Bundle, ComesBackFromItsFileAsItWas, ()) {
  Topology topology = random_network(*rc::gen::arbitrary<std::uint64_t>());
  const LinkModel model = any_model();
  Synthesis made =
      synthesize_verified(topology, any_problem(topology, 54'321, 3), {.link_model = model});
  const Bundle bundle{.topology = std::move(topology),
                      .collective = *made.collective,
                      .link_model = model,
                      .schedule = *made.schedule,
                      .engine = made.engine,
                      .seed = 7};
  const std::string path =
      std::filesystem::temp_directory_path() / fmt::format("tacos-property-{}.tacos", ::getpid());
  RC_ASSERT(write_bundle(bundle, path).has_value());
  const Result<Bundle> back = read_bundle(path);
  RC_ASSERT(back.has_value());
  RC_ASSERT(back->topology == bundle.topology);
  RC_ASSERT(back->collective == bundle.collective);
  RC_ASSERT(back->link_model == model);
  RC_ASSERT(back->schedule.totals() == bundle.schedule.totals());
  const Result<VerifyReport> report =
      verify(back->topology, back->collective, back->schedule, {.link_model = model});
  RC_ASSERT(report.has_value());
  RC_ASSERT(report->valid());
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace tacos
