// SPDX-License-Identifier: MIT
// Several processes make the schedule that one makes, whatever they share out.
#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "schedule/packed_schedule.h"
#include "schedule/source.h"
#include "support/problems.h"
#include "support/random_network.h"
#include "support/thread_team.h"
#include "synthesis/by_team.h"
#include "verify/by_team.h"

namespace tacos {
namespace {

using testing::network;
using testing::problem;
using testing::synthesize_verified;

using testing::kMiB;

/// With a little more latency everywhere.
Topology slower(const Topology& topology) {
  TopologyBuilder builder(topology.name(), topology.num_npus(), topology.num_switches());
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    Link link = topology.link(LinkId(id));
    link.latency += Ticks{1};
    builder.add_link(link);
  }
  return std::move(builder).build().value();
}

/// By teams of several sizes.
void expect_same(const Topology& topology, const Problem& task, SynthesisOptions options = {}) {
  const Synthesis alone = synthesize_verified(topology, task, options);
  // On its own network and on one that the schedule does not fit.
  const std::array networks{topology, slower(topology)};
  const VerifyOptions judging{.link_model = options.link_model, .threads = 2};
  std::vector<VerifyReport> expected;
  for (const Topology& given : networks) {
    expected.push_back(*verify(given, *alone.collective, *alone.schedule, judging));
  }
  for (const int size : {2, 3, 5}) {
    run_as_team(size, [&](Team& team) {
      const Result<Synthesis> made = synthesize_by_team(topology, task, {options, &team});
      ASSERT_TRUE(made) << made.error().to_string();
      EXPECT_EQ(made->engine, alone.engine);
      EXPECT_EQ(made->trials, alone.trials);
      EXPECT_EQ(made->compared.size(), alone.compared.size());
      EXPECT_EQ(made->schedule->totals(), alone.schedule->totals()) << topology.name();
      for (std::size_t i = 0; i < networks.size(); ++i) {
        const Result<VerifyReport> report =
            verify_by_team(networks[i], *made->collective, *made->schedule, judging, team);
        ASSERT_TRUE(report) << report.error().to_string();
        EXPECT_EQ(report->violations, expected[i].violations);
        EXPECT_EQ(report->num_violations, expected[i].num_violations);
        EXPECT_EQ(report->collective_time, expected[i].collective_time);
      }
      source_of(*made->schedule).read_together([&] {
        if (team.leads()) {
          EXPECT_EQ(pack_schedule(*made->schedule, topology.num_links()),
                    pack_schedule(*alone.schedule, topology.num_links()));
        }
      });
    });
  }
}

TEST(TeamSynthesis, DealsTrials) {
  const Topology mesh = network("mesh:3x3");
  expect_same(mesh, problem(mesh, CollectiveKind::kAllGather, kMiB), {.trials = 7});
  expect_same(mesh, problem(mesh, CollectiveKind::kAllReduce, kMiB), {.trials = 3});
  expect_same(mesh, problem(mesh, CollectiveKind::kAllToAll, kMiB), {.trials = 4});
}

TEST(TeamSynthesis, DealsEnginesAndChunkCounts) {
  for (const char* spec : {"dgx1", "switch:6", "torus:4x4", "mesh:3x3,bw=50GBps/100GBps"}) {
    const Topology topology = network(spec);
    for (const CollectiveKind kind :
         {CollectiveKind::kAllGather, CollectiveKind::kAllReduce, CollectiveKind::kScatter}) {
      expect_same(topology, problem(topology, kind, kMiB));
    }
  }
}

// The NPUs of a log are shared out, in a part of the team where another engine runs beside it.
TEST(TeamSynthesis, SharesOutNpus) {
  for (const char* spec : {"mesh:23x24", "torus:16x32", "fc:30"}) {
    const Topology topology = network(spec);
    const std::int64_t chunks = topology.num_npus() < 100 ? 300 : 2;
    for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}) {
      expect_same(topology, problem(topology, kind, 1024 * kMiB + 7, chunks));
    }
  }
}

TEST(TeamSynthesis, SharesOutBothHalvesOfAnAllReduce) {
  const Topology mesh = network("mesh:23x24");
  expect_same(mesh,
              problem(mesh, CollectiveKind::kAllReduce, 1024 * kMiB, 552),
              {.engine = "matching", .trials = 2});
}

// More members than NPUs that any of them could have.
TEST(TeamSynthesis, LeavesMembersWithNothingToDo) {
  const Topology pair = network("ring:2");
  expect_same(pair, problem(pair, CollectiveKind::kAllGather, 1024 * kMiB, 150'000));
}

TEST(TeamSynthesis, MakesTheSameOnRandomNetworks) {
  for (std::uint64_t number = 0; number < 6; ++number) {
    const Topology topology = testing::random_network(number, {.max_npus = 9});
    expect_same(topology, problem(topology, CollectiveKind::kAllGather, kMiB));
    expect_same(topology, problem(topology, CollectiveKind::kReduceScatter, kMiB));
  }
}

TEST(TeamSynthesis, FailsEverywhereWithOneSentence) {
  const Topology mesh = network("mesh:23x24");
  run_as_team(3, [&](Team& team) {
    // Only one member has too little memory.
    const Result<Synthesis> made =
        synthesize_by_team(mesh,
                           problem(mesh, CollectiveKind::kAllGather, 1024 * kMiB),
                           {{.memory_bytes = team.member() == 2 ? 1U << 20U : 1U << 31U}, &team});
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("1.0 MiB free"), std::string::npos);
  });
}

}  // namespace
}  // namespace tacos
