// SPDX-License-Identifier: MIT
// What must hold for All-to-All, Gather and Scatter on every network, with switches and without.
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tacos/bound.h"

#include "support/problems.h"
#include "support/random_network.h"
#include "support/reference_routing.h"

namespace tacos {
namespace {

using testing::random_network;
using testing::random_switched_network;
using testing::synthesize_verified;

Topology any_network() {
  const auto number = *rc::gen::arbitrary<std::uint64_t>();
  return *rc::gen::arbitrary<bool>()
             ? random_switched_network(number)
             : random_network(number, {.directed = *rc::gen::arbitrary<bool>()});
}

CollectiveKind any_routed_kind() {
  return *rc::gen::element(
      CollectiveKind::kAllToAll, CollectiveKind::kGather, CollectiveKind::kScatter);
}

LinkModel any_link_model() {
  return *rc::gen::element(LinkModel::kHold, LinkModel::kPipelined);
}

/// Over some of the NPUs, with one of them as the root; the others relay.
Problem any_problem(const Topology& topology) {
  Problem problem{.kind = any_routed_kind(),
                  .size = {*rc::gen::inRange<std::int64_t>(100, 10'000'000)},
                  .chunks = *rc::gen::inRange<std::int64_t>(1, 5),
                  .participants = {},
                  .root = {}};
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    if (*rc::gen::inRange(0, 4) != 0) {
      problem.participants.emplace_back(npu);
    }
  }
  if (problem.participants.empty()) {
    problem.participants.emplace_back(0);
  }
  if (is_rooted(problem.kind)) {
    problem.root = *rc::gen::elementOf(problem.participants);
  }
  return problem;
}

RC_GTEST_PROP(Routing, VerifiesOnEveryNetworkAndIsNeverFasterThanTheBound, ()) {
  const Topology topology = any_network();
  const Problem problem = any_problem(topology);
  const SynthesisOptions options{.link_model = any_link_model(),
                                 .seed = *rc::gen::arbitrary<std::uint64_t>(),
                                 .trials = *rc::gen::inRange<std::int64_t>(1, 3)};
  const Synthesis made = synthesize_verified(topology, problem, options);
  RC_ASSERT(made.status == SynthesisStatus::kFeasible);
  const Result<BoundReport> bound =
      compute_bounds(topology, *made.collective, {.link_model = options.link_model});
  RC_ASSERT(bound.has_value());
  RC_ASSERT(bound->best.time <= made.schedule->collective_time());
}

RC_GTEST_PROP(Routing, VerifiesWithChunkCountsOfItsOwn, ()) {
  const Topology topology = any_network();
  Problem problem = any_problem(topology);
  problem.chunks.reset();
  const Synthesis made = synthesize_verified(topology, problem, {.link_model = any_link_model()});
  RC_ASSERT(made.status == SynthesisStatus::kFeasible);
}

RC_GTEST_PROP(Routing, IsInfeasibleExactlyWhenAPairThatMustTalkIsCutOff, ()) {
  const Topology topology =
      random_network(*rc::gen::arbitrary<std::uint64_t>(), {.connected = false});
  const Problem problem = any_problem(topology);
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
  bool whole = true;
  for (const NodeId from : problem.participants) {
    for (const NodeId to : problem.participants) {
      const bool talk =
          problem.kind == CollectiveKind::kAllToAll ||
          (problem.kind == CollectiveKind::kGather ? to : from) == problem.root.value_or(NodeId());
      whole = whole && (!talk || reach[from.index()][to.index()]);
    }
  }
  const Synthesis made = synthesize_verified(topology, problem);
  RC_ASSERT((made.status == SynthesisStatus::kFeasible) == whole);
  if (!whole) {
    RC_ASSERT(!reach[made.unreachable->first.index()][made.unreachable->second.index()]);
  }
}

RC_GTEST_PROP(Routing, GivesTheSameBytesOnAnyThreadCount, ()) {
  const Topology topology = any_network();
  Problem problem = any_problem(topology);
  problem.chunks.reset();
  SynthesisOptions options{.seed = *rc::gen::arbitrary<std::uint64_t>(), .trials = 2};
  const Synthesis one = synthesize_verified(topology, problem, options);
  options.threads = 3;
  const Synthesis three = synthesize_verified(topology, problem, options);
  RC_ASSERT(one.schedule->totals() == three.schedule->totals());
  RC_ASSERT(one.collective == three.collective);
}

RC_GTEST_PROP(Routing, IsSeldomSlowerThanShortestPaths, ()) {
  const Topology topology = any_network();
  const Problem problem = any_problem(topology);
  const LinkModel model = any_link_model();
  const Synthesis made = synthesize_verified(topology, problem, {.link_model = model});
  const Ticks oracle = testing::reference_routing(topology, *made.collective, model);
  const Ticks time = made.schedule->collective_time();
  // List scheduling against list scheduling: either may win a case, none may lose it badly.
  RC_ASSERT(static_cast<double>(time.ps) <= 1.5 * static_cast<double>(oracle.ps));
}

}  // namespace
}  // namespace tacos
