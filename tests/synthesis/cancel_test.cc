// SPDX-License-Identifier: MIT
// Work that is not wanted any more stops; work that is wanted does not notice that it could.
#include <memory>
#include <stop_token>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tacos/bound.h"
#include "tacos/simulate.h"
#include "tacos/synthesize.h"
#include "tacos/verify.h"

#include "support/random_task.h"

namespace tacos {
namespace {

using testing::any_task;
using testing::network;
using testing::problem;
using testing::synthesize_verified;

std::stop_token stopped() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

TEST(Cancel, EveryEngineStops) {
  const Topology topology = network("torus:4x4");
  for (const CollectiveKind kind : collective_kinds()) {
    const Problem asked = problem(topology, kind, 1 << 20);
    for (const std::string_view engine : engine_names()) {
      if (!engine_handles(engine, topology, asked)) {
        continue;
      }
      for (const int threads : {1, 3}) {
        const Result<Synthesis> made =
            synthesize(topology,
                       asked,
                       {.engine = std::string(engine), .threads = threads, .cancel = stopped()});
        ASSERT_FALSE(made) << engine;
        EXPECT_EQ(made.error().code, ErrorCode::kCancelled) << engine;
      }
    }
  }
}

TEST(Cancel, SynthesisStopsInTheMiddle) {
  const Topology topology = network("mesh:6x6");
  for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kAllReduce}) {
    std::stop_source source;
    double last = 0;
    const Result<Synthesis> made = synthesize(topology,
                                              problem(topology, kind, 1 << 26),
                                              {.progress =
                                                   [&](double share) {
                                                     last = share;
                                                     source.request_stop();
                                                   },
                                               .cancel = source.get_token()});
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, ErrorCode::kCancelled);
    EXPECT_LT(last, 1);
  }
}

TEST(Cancel, VerificationSimulationAndBoundsStop) {
  const Topology topology = network("mesh:3x3");
  const Synthesis made =
      synthesize_verified(topology, problem(topology, CollectiveKind::kAllReduce, 1 << 20));
  const auto code = [](const auto& result) {
    return result ? ErrorCode::kInternal : result.error().code;
  };
  EXPECT_EQ(code(verify(topology, *made.collective, *made.schedule, {.cancel = stopped()})),
            ErrorCode::kCancelled);
  EXPECT_EQ(code(simulate(topology, *made.collective, *made.schedule, {.cancel = stopped()})),
            ErrorCode::kCancelled);
  EXPECT_EQ(code(compute_bounds(topology, *made.collective, {.cancel = stopped()})),
            ErrorCode::kCancelled);
}

RC_GTEST_PROP(Cancel, ATokenThatNobodyUsesChangesNothing, ()) {
  const testing::Task task = any_task();
  const std::stop_source source;
  const Result<Synthesis> plain = synthesize(task.topology, task.problem, {.seed = task.seed});
  const Result<Synthesis> other =
      synthesize(task.topology, task.problem, {.seed = task.seed, .cancel = source.get_token()});
  RC_ASSERT(plain.has_value() == other.has_value());
  if (plain && plain->schedule) {
    RC_ASSERT(plain->schedule->hash() == other->schedule->hash());
  }
}

}  // namespace
}  // namespace tacos
