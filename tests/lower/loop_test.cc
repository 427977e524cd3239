// SPDX-License-Identifier: MIT
// Loops against the programs that the same schedules make when they are written out.
#include "tacos/loop.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tacos/lower.h"
#include "tacos/verify.h"

#include "base/numbers/rng.h"
#include "support/execute_case.h"
#include "support/forms.h"
#include "support/patterns.h"
#include "support/problems.h"
#include "support/reference_timetable.h"
#include "support/run_program.h"
#include "verify/program_check.h"

namespace tacos {
namespace {

using test::first_of;
using testing::network;
using testing::PeriodicCase;
using testing::problem;
using testing::random_periodic_case;
using testing::synthesize_verified;

/// What the engine makes: rounds that overlap, as random ones hardly do.
std::vector<PeriodicCase> made_cases() {
  std::vector<PeriodicCase> cases;
  for (const char* const spec : {"mesh:4x5",
                                 "mesh:2x3x3",
                                 "mesh:3x4,bw=50GBps/100GBps",
                                 "ring:7",
                                 "mesh:9",
                                 "switch-2d:4x2"}) {
    const Topology topology = network(spec);
    for (const CollectiveKind kind :
         {CollectiveKind::kAllReduce, CollectiveKind::kReduce, CollectiveKind::kBroadcast}) {
      for (const bool some : {false, true}) {
        Problem task = problem(topology, kind, (1 << 20) + 77);
        if (some) {
          std::erase_if(task.participants, [](NodeId npu) { return npu.value() % 3 == 1; });
        }
        for (const LinkModel model : {LinkModel::kHold, LinkModel::kPipelined}) {
          const SynthesisOptions options{.engine = "trees", .link_model = model, .effort = 1};
          if (!engine_handles("trees", topology, task)) {
            continue;
          }
          const Synthesis made = synthesize_verified(topology, task, options);
          // Not so many that they take long to run.
          constexpr std::uint64_t kMostTransfers = 15'000;
          const auto* const timetable = testing::form_of<Timetable>(*made.schedule);
          if (timetable != nullptr && made.schedule->num_transfers() < kMostTransfers) {
            cases.push_back({.topology = topology,
                             .collective = *made.collective,
                             .model = model,
                             .timetable = *timetable});
          }
        }
      }
    }
  }
  return cases;
}

std::vector<PeriodicCase> all_cases() {
  std::vector<PeriodicCase> cases = made_cases();
  for (std::uint64_t number = 0; number < 180; ++number) {
    cases.push_back(random_periodic_case(
        number,
        number % 2 == 0 ? testing::PeriodLength::kLong : testing::PeriodLength::kShort,
        number < 120 ? 1 : 2));
  }
  for (const PeriodicCase& made : cases) {
    EXPECT_TRUE(verify(made.topology, made.collective, made.schedule(), {.link_model = made.model})
                    ->valid());
  }
  return cases;
}

std::optional<Loop> loop_of(const PeriodicCase& made, bool in_place) {
  return *lower_loop(made.topology, made.collective, made.schedule(), {.in_place = in_place});
}

std::uint64_t scratch_of(const Program& program) {
  std::uint64_t slots = 0;
  for (const NpuProgram& npu : program.npus) {
    slots += npu.slots.scratch;
  }
  return slots;
}

/// What is different between two programs; how their dependencies lie in memory does not matter.
std::string difference(const Program& a, const Program& b) {
  for (std::size_t npu = 0; npu < a.npus.size(); ++npu) {
    const NpuProgram& left = a.npus[npu];
    const NpuProgram& right = b.npus[npu];
    if (left.slots != right.slots || left.lanes.size() != right.lanes.size()) {
      return "slots or lanes of NPU " + std::to_string(npu);
    }
    for (std::size_t l = 0; l < left.lanes.size(); ++l) {
      const Lane& one = left.lanes[l];
      const Lane& other = right.lanes[l];
      const bool equal =
          one.role == other.role && one.channel == other.channel &&
          (one.role == LaneRole::kLocal || one.peer == other.peer) &&
          std::equal(one.steps.begin(),
                     one.steps.end(),
                     other.steps.begin(),
                     other.steps.end(),
                     [&](const Step& x, const Step& y) {
                       const auto waits = left.dependencies_of(x);
                       const auto others = right.dependencies_of(y);
                       return x.kind == y.kind && x.from == y.from && x.to == y.to &&
                              std::equal(waits.begin(), waits.end(), others.begin(), others.end());
                     });
      if (!equal) {
        return "lane " + std::to_string(l) + " of NPU " + std::to_string(npu);
      }
    }
  }
  return {};
}

TEST(Loop, IsTheProgramOfTheSchedule) {
  int loops = 0;
  int equal = 0;
  int with_scratch = 0;
  const std::vector<PeriodicCase> cases = all_cases();
  for (std::uint64_t number = 0; number < cases.size(); ++number) {
    const PeriodicCase& made = cases[number];
    const bool in_place = number % 2 == 0 && can_be_in_place(made.collective);
    const std::optional<Loop> loop = loop_of(made, in_place);
    if (!loop) {
      continue;
    }
    ++loops;
    const Program program = unroll(*loop);
    const ProgramReport report = check_program(program);
    ASSERT_EQ(first_of(report), "") << number;
    EXPECT_LE(report.fifo_slots, LowerOptions().fifo_slots) << number;
    EXPECT_EQ(test::run_program(program, number, report.fifo_slots), "") << number;
    const Result<Program> plain = lower(
        made.topology, made.collective, testing::expanded(made.schedule()), {.in_place = in_place});
    ASSERT_TRUE(plain) << number;
    with_scratch += scratch_of(*plain) > 0 ? 1 : 0;
    equal += difference(program, *plain).empty() ? 1 : 0;
    // Chunks that differ by a byte may come in another order.
    if (scratch_of(*plain) == 0 &&
        made.collective.chunks().size().count % made.collective.num_chunks() == 0) {
      EXPECT_EQ(difference(program, *plain), "") << number;
    }
  }
  EXPECT_GT(loops, 120);
  EXPECT_GT(equal, 80);
  EXPECT_GT(with_scratch, 30);
}

TEST(Loop, RunsOnRealData) {
  const std::vector<PeriodicCase> cases = all_cases();
  for (std::uint64_t number = 0; number < 100; ++number) {
    const PeriodicCase& made = cases[number];
    const bool in_place = number % 2 == 0 && can_be_in_place(made.collective);
    test::ExecuteCase given;
    given.loop = loop_of(made, in_place);
    if (!given.loop) {
      continue;
    }
    given.program = unroll(*given.loop);
    given.count = number % 5 == 0 ? number % 7 : 300 + number;
    EXPECT_EQ(test::run_case(given), "") << number;
  }
}

/// Takes one thing out of a loop, or changes it; nothing where there is nothing of the kind.
std::string damage(Loop& loop, Rng& rng) {
  NpuLoop& npu = loop.npus[rng.below(static_cast<std::uint32_t>(loop.npus.size()))];
  if (npu.lanes.empty()) {
    return {};
  }
  LoopLane& lane = npu.lanes[rng.below(static_cast<std::uint32_t>(npu.lanes.size()))];
  LoopStep& step = lane.steps[rng.below(static_cast<std::uint32_t>(lane.steps.size()))];
  const auto scratch = [](const LoopSlot& slot) {
    return slot.first.buffer == Buffer::kScratch && slot.depth > 1;
  };
  switch (rng.below(5)) {
    case 0:
      if (step.num_dependencies == 0) {
        return {};
      }
      --step.num_dependencies;
      return "a dependency is gone";
    case 1:
      if (lane.steps.size() == 1) {
        return {};
      }
      ++step.lap;
      return "a step comes a turn later at one end";
    case 2:
      if (step.num_dependencies == 0 || npu.dependencies[step.first_dependency].back == 0) {
        return {};
      }
      ++npu.dependencies[step.first_dependency].back;
      return "scratch is used again too early";
    case 3:
      if (!writes(step.kind) || !scratch(step.to)) {
        return {};
      }
      --step.to.depth;
      return "one writes another slot of scratch than others read";
    default:
      if (loop.rounds < 2) {
        return {};
      }
      --loop.rounds;
      return "a round is missing";
  }
}

TEST(Loop, DamageIsSeen) {
  std::map<std::string, std::pair<int, int>> caught;
  const std::vector<PeriodicCase> cases = all_cases();
  for (std::uint64_t number = 0; number < 6 * cases.size(); ++number) {
    std::optional<Loop> loop = loop_of(cases[number % cases.size()], false);
    Rng rng(number);
    const std::string what = loop ? damage(*loop, rng) : "";
    if (what.empty()) {
      continue;
    }
    const Program program = unroll(*loop);
    const ProgramReport report = check_program(program);
    for (std::uint64_t seed = 0; seed < 5 && report.valid(); ++seed) {
      EXPECT_EQ(test::run_program(program, seed, report.fifo_slots), "") << number << what;
    }
    auto& [seen, all] = caught[what];
    seen += report.valid() ? 0 : 1;
    ++all;
  }
  EXPECT_EQ(caught.size(), 5U);
  for (const auto& [what, count] : caught) {
    EXPECT_GT(2 * count.first, count.second) << what;
  }
}

TEST(Loop, TakesNoMoreForMoreRounds) {
  const Topology mesh = network("mesh:6x6");
  const Synthesis made = synthesize_verified(
      mesh, problem(mesh, CollectiveKind::kAllReduce, 1 << 28), {.engine = "trees", .effort = 1});
  const auto* const timetable = testing::form_of<Timetable>(*made.schedule);
  ASSERT_NE(timetable, nullptr);
  ASSERT_GT(timetable->rounds, 8U);
  const std::optional<Loop> loop = *lower_loop(mesh, *made.collective, *made.schedule);
  ASSERT_TRUE(loop);
  std::size_t steps = 0;
  for (const NpuLoop& npu : loop->npus) {
    for (const LoopLane& lane : npu.lanes) {
      steps += lane.steps.size();
    }
  }
  EXPECT_EQ(steps, 2 * timetable->entries.size());
  EXPECT_EQ(first_of(check_program(unroll(*loop))), "");
}

// Many more messages are on a wire than FIFOs take; not every chunk needs scratch of its own then.
TEST(Loop, SaysHowMuchScratchIsEnoughForShortFifos) {
  const Topology mesh = network("mesh:4x5");
  const Synthesis made =
      synthesize_verified(mesh,
                          problem(mesh, CollectiveKind::kReduce, 1 << 22),
                          {.engine = "trees", .link_model = LinkModel::kPipelined, .effort = 1});
  const auto* const timetable = testing::form_of<Timetable>(*made.schedule);
  ASSERT_NE(timetable, nullptr);
  const Program program = *lower(mesh, *made.collective, *made.schedule);
  const ProgramReport report = check_program(program);
  EXPECT_EQ(first_of(report), "");
  EXPECT_LE(report.fifo_slots, LowerOptions().fifo_slots);
  EXPECT_LT(scratch_of(program), 10 * timetable->entries.size());
  const Program rounds = *lower(mesh, *made.collective, testing::expanded(*made.schedule));
  EXPECT_GT(scratch_of(rounds), 10 * timetable->entries.size());
}

TEST(Loop, IsNotMadeOfWhatIsNone) {
  const Topology ring = network("ring:4");
  const Synthesis made = synthesize_verified(
      ring, problem(ring, CollectiveKind::kAllReduce, 4096), {.engine = "ring"});
  EXPECT_FALSE(*lower_loop(ring, *made.collective, *made.schedule));
  EXPECT_TRUE(lower_to_run(ring, *made.collective, *made.schedule)->program.npus.size() == 4);
}

}  // namespace
}  // namespace tacos
