// SPDX-License-Identifier: MIT
// Rounds that trees are planned for, against a naive look at every transfer.
#include "synthesis/trees/timing/round_plan.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tacos/bound.h"
#include "tacos/verify.h"

#include "base/numbers/rng.h"
#include "schedule/periodic/timetable.h"
#include "support/forms.h"
#include "support/patterns.h"
#include "support/problems.h"
#include "support/random_network.h"
#include "support/reference_timetable.h"
#include "synthesis/trees/packing/packer.h"
#include "synthesis/trees/round_search.h"
#include "synthesis/trees/timing/periodic.h"
#include "synthesis/trees/trees.h"

namespace tacos::trees {
namespace {

using testing::expanded;
using testing::form_of;
using testing::network;

/// All that planning needs, for a collective over some or all NPUs.
struct Task {
  Topology topology;
  Job job;
  CollectiveKind kind;
  Bytes size;
  LinkModel model;
  std::vector<NodeId> participants;
};

Task random_task(std::uint64_t seed) {
  constexpr std::array kKinds{CollectiveKind::kAllReduce,
                              CollectiveKind::kBroadcast,
                              CollectiveKind::kReduce,
                              CollectiveKind::kAllGather,
                              CollectiveKind::kReduceScatter};
  Rng rng(seed);
  const CollectiveKind kind = kKinds[seed % kKinds.size()];
  const CollectiveTraits& rule = traits(kind);
  Task task{.topology = testing::random_network(seed, {.directed = rng.below(2) == 0}),
            .job = {},
            .kind = kind,
            .size = {},
            .model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined,
            .participants = {}};
  const std::uint32_t npus = task.topology.num_npus();
  const bool everybody = rng.below(2) == 0;
  for (std::uint32_t v = 0; v < npus; ++v) {
    const bool takes_part = everybody || rng.below(2) == 0 || v + 2 >= npus;
    task.job.takes_part.push_back(takes_part);
    if (takes_part) {
      task.job.participants.push_back(v);
      task.participants.emplace_back(v);
    }
  }
  task.job.flow = rule.has_two_phases() ? Flow::kUpAndDown : rule.reduces ? Flow::kUp : Flow::kDown;
  task.job.everyones_own = rule.chunks_per == ChunksPer::kParticipant;
  task.job.root = rule.rooted() ? task.job.participants.front() : kNone;
  task.size.count = 64 * npus + rng.below(1U << (7 + rng.below(22)));
  return task;
}

/// A transfer of the first round, as the plan says.
struct Leg {
  std::uint32_t hop = 0;
  std::uint32_t tree = 0;
  std::int64_t start = 0;
  bool up = false;
};

std::vector<Leg> legs_of(const Draft& draft) {
  std::vector<Leg> legs;
  const auto add = [&](const auto& hops, const auto& starts, bool up) {
    for (std::size_t cell = 0; cell < hops.size(); ++cell) {
      if (hops[cell] != kNone) {
        legs.push_back({hops[cell],
                        static_cast<std::uint32_t>(cell / draft.packing.num_nodes),
                        starts[cell],
                        up});
      }
    }
  };
  add(draft.packing.up, draft.plan->up, true);
  add(draft.packing.down, draft.plan->down, false);
  return legs;
}

/// Looks at all pairs: links are free modulo the period, and every transfer has what it sends.
void check_plan(const Fabric& fabric, const HopCosts& costs, const Draft& draft) {
  const std::vector<Leg> legs = legs_of(draft);
  const std::int64_t period = draft.plan->period;
  std::int64_t first = legs.front().start;
  std::int64_t last = 0;
  for (const Leg& a : legs) {
    // Those that share its transfer, each in a round of its own.
    const auto together =
        static_cast<std::uint32_t>(std::count_if(legs.begin(), legs.end(), [&](const Leg& b) {
          return a.hop == b.hop && (a.start - b.start) % period == 0;
        }));
    first = std::min(first, a.start);
    last = std::max(last, a.start + costs.arrival_of(a.hop, together));
    for (const Leg& b : legs) {
      if (a.hop == b.hop && (a.start - b.start) % period == 0) {
        ASSERT_EQ(a.up, b.up);
      } else if (a.hop == b.hop) {
        const std::int64_t after = ((b.start - a.start) % period + period) % period;
        ASSERT_GE(after, costs.free_after(a.hop, 0, together));
      }
      // What b sends up or down comes to it over a.
      const bool up_to_up = a.up && b.up && fabric.target(a.hop) == fabric.source(b.hop);
      const bool down = !b.up && fabric.target(a.hop) == fabric.source(b.hop) &&
                        (!a.up || fabric.source(b.hop) == draft.packing.roots[b.tree]);
      if (a.tree == b.tree && (up_to_up || down)) {
        ASSERT_GE(b.start, a.start + costs.arrival_of(a.hop, together));
      }
    }
  }
  ASSERT_EQ(first, 0);
  ASSERT_EQ(last, draft.plan->span);
}

TEST(RoundPlan, KeepsLinksFreeModuloThePeriodAndSendsWhatIsThere) {
  int planned = 0;
  int shared = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Task task = random_task(seed);
    const Result<Fabric> fabric = Fabric::make(task.topology, task.job);
    if (task.participants.size() < 2 || !fabric) {
      continue;
    }
    Rng rng(seed);
    const int effort = 1 + static_cast<int>(rng.below(9));
    const HopCosts some(task.topology, *fabric, task.size, task.model);
    Packer packer(task.topology,
                  *fabric,
                  task.job,
                  find_centre(*fabric, task.job, some.arrivals(), 8),
                  seed,
                  effort);
    const PipelineTask pipeline{task.topology, *fabric, task.job, task.size, task.model};
    std::optional<std::uint32_t> chunks;
    if (rng.below(2) == 0) {
      chunks = task.job.unit() * (1 + rng.below(24));
    }
    const std::optional<Draft> draft = RoundSearch(pipeline, packer, effort).best(chunks);
    if (!draft) {
      // Only numbers that cannot be dealt evenly.
      ASSERT_TRUE(chunks);
      continue;
    }
    ++planned;
    ASSERT_EQ(draft->chunks, chunks.value_or(draft->chunks));
    const HopCosts costs(
        task.topology, *fabric, ChunkTable(task.size, draft->chunks).max_bytes(), task.model);
    check_plan(*fabric, costs, *draft);
    // And the referee says the same, of the rounds and of all that they stand for.
    const Schedule schedule = periodic(pipeline, *draft);
    const Collective collective =
        Collective::make(task.kind,
                         task.size,
                         draft->chunks / task.job.unit(),
                         task.participants,
                         is_rooted(task.kind) ? std::optional(NodeId(task.job.root)) : std::nullopt)
            .value();
    const VerifyOptions options{.link_model = task.model};
    const VerifyReport proof = *verify(task.topology, collective, schedule, options);
    ASSERT_TRUE(proof.valid()) << proof.violations.front();
    const VerifyReport replay = *verify(task.topology, collective, expanded(schedule), options);
    ASSERT_TRUE(replay.valid()) << replay.violations.front();
    ASSERT_LE(schedule.collective_time().ps, draft->time);
    shared += schedule.num_moves() > schedule.num_transfers() ? 1 : 0;
  }
  EXPECT_GT(shared, 20);
  EXPECT_GT(planned, 200);
}

Candidate make(const std::string& spec, std::int64_t size, int effort) {
  const Topology topology = network(spec);
  EngineOptions options;
  options.effort = effort;
  Result<Candidate> made = trees::synthesize(
      topology, testing::problem(topology, CollectiveKind::kAllReduce, size), options);
  EXPECT_TRUE(made);
  const Result<VerifyReport> report = verify(topology, made->collective, made->schedule, {});
  EXPECT_TRUE(report->valid());
  return *std::move(made);
}

/// Percent of the bandwidth bound.
double share_of_bound(const std::string& spec, const Candidate& made) {
  const BoundReport bound =
      *compute_bounds(network(spec), made.collective, {.with_latency = false});
  return 100 * to_us(bound.bandwidth.time) / to_us(made.schedule.collective_time());
}

TEST(RoundPlan, IsWhatLargeNetworksGet) {
  for (const auto& [spec, share] :
       std::vector<std::pair<std::string, double>>{{"mesh:16x32", 86},
                                                   {"mesh:16x32,bw=100GBps/50GBps", 85},
                                                   {"torus:8x8x8,bw=100GBps/50GBps/25GBps", 89},
                                                   {"mesh:64x64", 80}}) {
    const Candidate made = make(spec, 1LL << 30U, 1);
    EXPECT_NE(form_of<Timetable>(made.schedule), nullptr) << spec;
    EXPECT_GE(share_of_bound(spec, made), share) << spec;
  }
  const Candidate made = make("mesh:48x48", 1LL << 30U, 5);
  EXPECT_NE(form_of<Timetable>(made.schedule), nullptr);
  EXPECT_GE(share_of_bound("mesh:48x48", made), 85);
}

TEST(RoundPlan, GivesTheSameBytesAgain) {
  const Candidate once = make("mesh:16x16,bw=50GBps/75GBps", 1LL << 28U, 1);
  const Candidate again = make("mesh:16x16,bw=50GBps/75GBps", 1LL << 28U, 1);
  ASSERT_NE(form_of<Timetable>(once.schedule), nullptr);
  EXPECT_EQ(once.schedule.totals(), again.schedule.totals());
}

TEST(RoundPlan, IsMadeForTheChunksThatAreGivenWhereTheyCanBeDealt) {
  const Topology topology = network("mesh:16x16");
  for (const auto& [chunks, dealt] :
       std::vector<std::pair<std::int64_t, bool>>{{1500, true}, {330, true}, {1499, false}}) {
    EngineOptions options;
    options.effort = 1;
    const Result<Candidate> made = trees::synthesize(
        topology,
        testing::problem(topology, CollectiveKind::kAllReduce, 1LL << 30U, chunks),
        options);
    ASSERT_TRUE(made);
    EXPECT_EQ(made->collective.num_chunks(), chunks);
    EXPECT_EQ(form_of<Timetable>(made->schedule) != nullptr, dealt) << chunks;
    EXPECT_TRUE(verify(topology, made->collective, made->schedule, {})->valid());
  }
}

}  // namespace
}  // namespace tacos::trees
