// SPDX-License-Identifier: MIT
// What must hold of every repair: it verifies on the network as it is now, for those who are left.
#include "tacos/repair.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "base/numbers/rng.h"
#include "support/failures.h"
#include "support/problems.h"
#include "support/random_task.h"

namespace tacos {
namespace {

using testing::any_failures;
using testing::bundle_of;
using testing::network;
using testing::problem;
using testing::repairer_of;

void expect_right(const Repair& repair) {
  testing::expect_right(repair.bundle);
  EXPECT_EQ(repair.kept_transfers + repair.new_transfers, repair.bundle.schedule.num_transfers());
}

RC_GTEST_PROP(Repair, VerifiesForThoseWhoAreLeft, ()) {
  const testing::Task task = testing::any_task();
  RC_PRE(!task.problem.participants.empty() && task.topology.num_links() > 0);
  Rng rng(task.seed ^ task.topology.num_links());
  SynthesisOptions options{
      .link_model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined,
      .seed = task.seed};
  const std::vector<std::string> engines{"auto", "matching", "routing", "direct", "ring"};
  const std::string& engine = engines[rng.below(static_cast<std::uint32_t>(engines.size()))];
  if (engine_handles(engine, task.topology, task.problem) &&
      synthesize(task.topology, task.problem, {.engine = engine})) {
    options.engine = engine;
  }
  const Repairer repairer = repairer_of(bundle_of(task.topology, task.problem, options));
  const std::vector<std::string> failures = any_failures(task.topology, rng);
  const Result<DegradedTopology> left = apply_failures(task.topology, failures);
  RC_PRE(left.has_value());
  for (const RepairWay way : {RepairWay::kKeep, RepairWay::kFresh, RepairWay::kBest}) {
    const Result<Repair> repair = repairer.repair({.failures = failures}, {.way = way});
    if (!repair) {
      RC_ASSERT(repair.error().code == ErrorCode::kInfeasible ||
                repair.error().code == ErrorCode::kInput);
      // Cut off, whichever way it is tried.
      RC_ASSERT(!repairer.repair({.failures = failures}, {.way = RepairWay::kFresh}));
      continue;
    }
    expect_right(*repair);
    RC_ASSERT(!::testing::Test::HasFailure());
    std::vector<NodeId> expected = task.problem.participants;
    std::erase_if(expected, [&](NodeId npu) {
      return std::binary_search(left->failed_npus.begin(), left->failed_npus.end(), npu);
    });
    const auto participants = repair->bundle.collective.participants();
    RC_ASSERT(std::vector<NodeId>(participants.begin(), participants.end()) == expected);
    RC_ASSERT(repair->bundle.topology == left->topology);
    const Result<Repair> again =
        repairer.repair({.failures = failures}, {.way = way, .threads = 3});
    RC_ASSERT(again->bundle.schedule.hash() == repair->bundle.schedule.hash());
    RC_ASSERT(again->kept_transfers == repair->kept_transfers);
  }
}

TEST(Repair, KeepsWhatStillWorks) {
  const auto expect_kept = [](const char* spec, const char* failure, CollectiveKind kind) {
    const Topology topology = network(spec);
    const Repairer repairer =
        repairer_of(bundle_of(topology, problem(topology, kind, 16 << 20, 2)));
    const Result<Repair> repair =
        repairer.repair({.failures = {failure}}, {.way = RepairWay::kKeep});
    ASSERT_TRUE(repair) << to_string(kind);
    expect_right(*repair);
    EXPECT_GT(2 * repair->kept_transfers, repair->new_transfers) << to_string(kind);
  };
  for (const CollectiveKind kind :
       {CollectiveKind::kGather, CollectiveKind::kScatter, CollectiveKind::kAllToAll}) {
    expect_kept("mesh:4x4", "link:5-6", kind);
  }
  for (const CollectiveKind kind : {CollectiveKind::kAllGather,
                                    CollectiveKind::kReduceScatter,
                                    CollectiveKind::kBroadcast,
                                    CollectiveKind::kReduce}) {
    expect_kept("switch:4*switch:4", "link:0-16", kind);
  }
}

TEST(Repair, StartsAfreshWhereChunksGoToEverybodyOverDirectLinks) {
  const Topology topology = network("mesh:4x4");
  const Repairer repairer =
      repairer_of(bundle_of(topology, problem(topology, CollectiveKind::kAllGather, 16 << 20)));
  const Result<Repair> repair = repairer.repair({.failures = {"link:5-6"}});
  ASSERT_TRUE(repair);
  expect_right(*repair);
  EXPECT_EQ(repair->kept_transfers, 0U);
}

TEST(Repair, IsAtMostTwoPercentSlowerThanStartingAfresh) {
  const Topology topology = network("torus:4x4");
  const Repairer repairer =
      repairer_of(bundle_of(topology, problem(topology, CollectiveKind::kAllToAll, 16 << 20)));
  const NetworkChange change{.failures = {"link:0-1"}};
  const Result<Repair> best = repairer.repair(change);
  const Result<Repair> fresh = repairer.repair(change, {.way = RepairWay::kFresh});
  ASSERT_TRUE(best && fresh);
  EXPECT_LE(100 * best->bundle.schedule.collective_time().ps,
            102 * fresh->bundle.schedule.collective_time().ps);
  EXPECT_EQ(fresh->kept_transfers, 0U);
}

TEST(Repair, TakesFailuresBack) {
  const Topology topology = network("torus:4x4");
  const Repairer whole =
      repairer_of(bundle_of(topology, problem(topology, CollectiveKind::kAllGather, 16 << 20)));
  const Result<Repair> broken = whole.repair({.failures = {"link:0-1", "npu:7", "slow:4-5=0.5"}});
  ASSERT_TRUE(broken);
  expect_right(*broken);
  EXPECT_EQ(broken->bundle.collective.num_participants(), 15U);
  const Result<Repair> restored =
      repairer_of(broken->bundle).repair({.restored = {"npu:7", "slow:4-5", "link:0-1"}});
  ASSERT_TRUE(restored) << restored.error().to_string();
  expect_right(*restored);
  EXPECT_EQ(restored->bundle.topology, topology);
  EXPECT_EQ(restored->bundle.topology.name(), topology.name());
  EXPECT_TRUE(is_translation_symmetric(restored->bundle.topology));
  EXPECT_EQ(restored->bundle.collective.num_participants(), 16U);
}

}  // namespace
}  // namespace tacos
