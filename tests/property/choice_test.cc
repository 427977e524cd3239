// SPDX-License-Identifier: MIT
// What `auto` owes to its engines, and one link model to the other.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "replay/replay.h"
#include "support/problems.h"
#include "support/random_task.h"

namespace tacos {
namespace {

using testing::problem;
using testing::synthesize_verified;

using testing::any_task;
using testing::Task;

RC_GTEST_PROP(Auto, IsNoSlowerThanAnyOfItsEngines, ()) {
  const Task task = any_task();
  SynthesisOptions options{.link_model = *rc::gen::element(LinkModel::kHold, LinkModel::kPipelined),
                           .seed = task.seed};
  const Synthesis best = synthesize_verified(task.topology, task.problem, options);
  const std::int64_t time = best.schedule->collective_time().ps;
  for (const std::string_view name : engine_names()) {
    options.engine = name;
    const Result<Synthesis> one = synthesize(task.topology, task.problem, options);
    if (one) {
      // Within a hundredth of the bound `auto` looks no further.
      RC_ASSERT(time <= one->schedule->collective_time().ps * 101 / 100);
    }
  }
}

RC_GTEST_PROP(Pipelined, IsNoSlowerThanHold, ()) {
  const Task task = any_task();
  SynthesisOptions options{.seed = task.seed};
  const Synthesis hold = synthesize_verified(task.topology, task.problem, options);
  options.link_model = LinkModel::kPipelined;
  const Synthesis pipelined = synthesize_verified(task.topology, task.problem, options);
  RC_ASSERT(pipelined.schedule->collective_time().ps <=
            hold.schedule->collective_time().ps * 101 / 100);
}

void expect_replays(const Topology& topology, const Synthesis& made, LinkModel model) {
  for (const LinkModel under : {model, LinkModel::kPipelined}) {
    const Schedule sooner = replay::replayed(topology, *made.collective, under, *made.schedule);
    const Result<VerifyReport> report =
        verify(topology, *made.collective, sooner, {.link_model = under});
    ASSERT_TRUE(report);
    EXPECT_TRUE(report->valid()) << report->violations.front();
    EXPECT_LE(sooner.collective_time(), made.schedule->collective_time());
    EXPECT_EQ(sooner.num_transfers(), made.schedule->num_transfers());
  }
}

RC_GTEST_PROP(Replay, IsRightAndNoLater, ()) {
  const Task task = any_task();
  const LinkModel model = *rc::gen::element(LinkModel::kHold, LinkModel::kPipelined);
  for (const std::string_view name : engine_names()) {
    const Result<Synthesis> made =
        synthesize(task.topology,
                   task.problem,
                   {.engine = std::string(name), .link_model = model, .seed = task.seed});
    if (made) {
      expect_replays(task.topology, *made, model);
    }
  }
}

TEST(Replay, KeepsExchangesOfAChunkBothWays) {
  for (const char* spec : {"hypercube:3", "ring:2", "mesh:4x4", "fc:4"}) {
    const Topology topology = testing::network(spec);
    for (const std::int64_t size : {64, 65'536}) {
      const Synthesis made = synthesize_verified(
          topology, problem(topology, CollectiveKind::kAllReduce, size), {.engine = "trees"});
      expect_replays(topology, made, LinkModel::kHold);
    }
  }
}

}  // namespace
}  // namespace tacos
