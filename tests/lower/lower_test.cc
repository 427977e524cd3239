// SPDX-License-Identifier: MIT
#include "tacos/lower.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/numbers/rng.h"
#include "support/problems.h"
#include "support/random_task.h"
#include "support/run_program.h"
#include "verify/program_check.h"

namespace tacos {
namespace {

using test::first_of;
using testing::network;
using testing::problem;
using testing::synthesize_verified;

/// A random program, of a random problem.
Program any_program() {
  testing::Task task = testing::any_task();
  const LinkModel model = *rc::gen::element(LinkModel::kHold, LinkModel::kPipelined);
  if (traits(task.problem.kind).gathered && *rc::gen::arbitrary<bool>()) {
    task.problem.form = CollectiveForm::kGathered;
  }
  const Synthesis made =
      synthesize_verified(task.topology, task.problem, {.link_model = model, .seed = task.seed});
  const bool in_place = can_be_in_place(*made.collective) && *rc::gen::arbitrary<bool>();
  const bool credits = *rc::gen::arbitrary<bool>();
  const Result<Program> program = lower(
      task.topology, *made.collective, *made.schedule, {.in_place = in_place, .credits = credits});
  RC_ASSERT(program.has_value());
  return *program;
}

RC_GTEST_PROP(Lower, MakesProgramsThatAreRightInAnyOrder, ()) {
  const Program program = any_program();
  const ProgramReport report = check_program(program);
  RC_ASSERT(first_of(report) == "");
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  RC_ASSERT(test::run_program(program, seed, report.fifo_slots) == "");
  // What lowering found out about FIFOs, the referee finds too.
  RC_ASSERT(report.fifo_slots <= LowerOptions().fifo_slots);
}

/// Takes one thing out of a program, or changes it.
std::string damage(Program& program, Rng& rng) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> lanes;
  for (std::uint32_t npu = 0; npu < program.npus.size(); ++npu) {
    for (std::uint32_t lane = 0; lane < program.npus[npu].lanes.size(); ++lane) {
      lanes.emplace_back(npu, lane);
    }
  }
  if (lanes.empty()) {
    return {};
  }
  const auto [npu, lane] = lanes[rng.below(static_cast<std::uint32_t>(lanes.size()))];
  NpuProgram& here = program.npus[npu];
  std::vector<Step>& steps = here.lanes[lane].steps;
  const std::uint32_t at = rng.below(static_cast<std::uint32_t>(steps.size()));
  switch (rng.below(4)) {
    case 0:
      if (steps[at].num_dependencies == 0) {
        return {};
      }
      --steps[at].num_dependencies;
      return "a dependency is gone";
    case 1:
      std::swap(steps[at], steps[rng.below(static_cast<std::uint32_t>(steps.size()))]);
      return "two steps are swapped";
    case 2:
      if (here.slots.scratch < 2 || steps[at].to.buffer != Buffer::kScratch) {
        return {};
      }
      steps[at].to.index = rng.below(here.slots.scratch);
      return "other scratch is used";
    default:
      steps.pop_back();
      return "a step is gone";
  }
}

// The referee sees one order, the machine many: what goes wrong in any of them, it must see.
TEST(ProgramCheck, SeesWhateverCanGoWrong) {
  int caught = 0;
  int wrong = 0;
  rc::check("damaged programs", [&] {
    Program program = any_program();
    Rng rng(*rc::gen::arbitrary<std::uint64_t>());
    const std::string what = damage(program, rng);
    RC_PRE(!what.empty());
    const ProgramReport report = check_program(program);
    for (std::uint64_t seed = 0; seed < 20 && report.valid(); ++seed) {
      RC_LOG() << what << '\n';
      RC_ASSERT(test::run_program(program, seed, report.fifo_slots) == "");
    }
    caught += report.valid() ? 0 : 1;
    ++wrong;
  });
  // Most damage matters.
  EXPECT_GT(2 * caught, wrong);
}

TEST(ProgramCheck, NamesWhatIsWrong) {
  const Topology ring = network("ring:4");
  const Synthesis made = synthesize_verified(
      ring, problem(ring, CollectiveKind::kAllReduce, 4096), {.engine = "ring"});
  const Program right = *lower(ring, *made.collective, *made.schedule);
  ASSERT_EQ(first_of(check_program(right)), "");
  Program wrong = right;
  for (NpuProgram& npu : wrong.npus) {
    for (Lane& lane : npu.lanes) {
      for (Step& step : lane.steps) {
        step.num_dependencies = 0;
      }
    }
  }
  EXPECT_THAT(first_of(check_program(wrong)), ::testing::HasSubstr("in no order"));
  wrong = right;
  wrong.npus[0].lanes.pop_back();
  EXPECT_FALSE(check_program(wrong).valid());
}

TEST(Lower, KeepsTheOrderOfEveryLinkAndReusesScratch) {
  // Data crosses three relays; each needs scratch for what is on its way only.
  const Topology path = network("mesh:5");
  Problem task = problem(path, CollectiveKind::kBroadcast, 1 << 20, 64);
  task.participants = {NodeId(0), NodeId(4)};
  const Synthesis made = synthesize_verified(path, task);
  const Program program = *lower(path, *made.collective, *made.schedule);
  ASSERT_EQ(first_of(check_program(program)), "");
  for (const std::uint32_t relay : {1U, 2U, 3U}) {
    EXPECT_EQ(program.npus[relay].slots.input, 0U);
    EXPECT_EQ(program.npus[relay].slots.output, 0U);
    EXPECT_GE(program.npus[relay].slots.scratch, 1U);
    EXPECT_LE(program.npus[relay].slots.scratch, 8U);
  }
}

/// Steps of a kind, in all lanes.
std::size_t count_of(const NpuProgram& npu, StepKind kind) {
  std::size_t count = 0;
  for (const Lane& lane : npu.lanes) {
    count += static_cast<std::size_t>(
        std::count_if(lane.steps.begin(), lane.steps.end(), [kind](const Step& step) {
          return step.kind == kind;
        }));
  }
  return count;
}

TEST(Lower, LetsThoseInWhoShareAPortOneAfterTheOther) {
  const Topology star = network("switch:5");
  const Synthesis made = synthesize_verified(
      star, problem(star, CollectiveKind::kGather, 1 << 20, 1), {.engine = "routing"});
  const Program program = *lower(star, *made.collective, *made.schedule, {.credits = true});
  ASSERT_EQ(first_of(check_program(program)), "");
  EXPECT_EQ(count_of(program.npus[0], StepKind::kReceive), 4U);
  // The first needs none, and the second starts while the first is still on the port.
  EXPECT_EQ(count_of(program.npus[0], StepKind::kGrant), 2U);
  std::vector<Dependency> told;
  for (const Lane& lane : program.npus[0].lanes) {
    for (const Step& step : lane.steps) {
      if (step.kind == StepKind::kGrant) {
        ASSERT_EQ(step.num_dependencies, 1U);
        told.push_back(program.npus[0].dependencies_of(step).front());
      }
    }
  }
  // After another one each.
  std::sort(told.begin(), told.end());
  EXPECT_EQ(std::unique(told.begin(), told.end()), told.end());
}

TEST(Lower, NeedsNoCreditsWhereNothingIsShared) {
  const Topology mesh = network("mesh:3x3");
  const Synthesis made =
      synthesize_verified(mesh, problem(mesh, CollectiveKind::kAllReduce, 1 << 20));
  const Program program = *lower(mesh, *made.collective, *made.schedule, {.credits = true});
  for (const NpuProgram& npu : program.npus) {
    EXPECT_EQ(count_of(npu, StepKind::kGrant) + count_of(npu, StepKind::kAwait), 0U);
  }
}

TEST(ProgramCheck, SeesDataWhereNoneIsAwaited) {
  const Topology star = network("switch:4");
  const Synthesis made = synthesize_verified(
      star, problem(star, CollectiveKind::kGather, 1 << 20, 1), {.engine = "routing"});
  Program program = *lower(star, *made.collective, *made.schedule, {.credits = true});
  for (Lane& lane : program.npus[0].lanes) {
    for (Step& step : lane.steps) {
      step.kind = step.kind == StepKind::kGrant ? StepKind::kSend : step.kind;
    }
  }
  EXPECT_THAT(first_of(check_program(program)), ::testing::HasSubstr("do not match"));
}

TEST(Lower, RefusesToDoAnAllToAllInPlace) {
  const Topology ring = network("ring:4");
  const Synthesis made = synthesize_verified(ring, problem(ring, CollectiveKind::kAllToAll, 4096));
  EXPECT_FALSE(lower(ring, *made.collective, *made.schedule, {.in_place = true}));
}

TEST(Lower, EndsGatheredSumsInTheOrderOfParticipants) {
  const Topology ring = network("ring:4");
  Problem task = problem(ring, CollectiveKind::kAllReduce, 64, 1);
  task.form = CollectiveForm::kGathered;
  const Synthesis made = synthesize_verified(ring, task);
  const Program program = *lower(ring, *made.collective, *made.schedule, {.in_place = true});
  ASSERT_EQ(first_of(check_program(program)), "");
  const auto& lanes = program.npus[2].lanes;
  const auto local = std::find_if(
      lanes.begin(), lanes.end(), [](const Lane& lane) { return lane.role == LaneRole::kLocal; });
  ASSERT_NE(local, lanes.end());
  std::vector<std::uint32_t> added;
  for (const Step& step : local->steps) {
    if (step.to.buffer == Buffer::kOutput) {
      added.push_back(step.from.index);
    }
  }
  EXPECT_EQ(added, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace tacos
