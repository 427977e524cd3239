// SPDX-License-Identifier: MIT
#include "tacos/simulate.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/listed_schedule.h"
#include "support/random_task.h"

namespace tacos {
namespace {

using test::ListedTransfer;
using testing::network;
using testing::problem;
using testing::synthesize_verified;

Simulation simulated(const Topology& topology,
                     const Synthesis& made,
                     const SimulationOptions& options = {}) {
  Result<Simulation> simulation = simulate(topology, *made.collective, *made.schedule, options);
  EXPECT_TRUE(simulation) << simulation.error().to_string();
  return *std::move(simulation);
}

Simulation simulated(const Topology& topology,
                     const Collective& collective,
                     std::vector<ListedTransfer> transfers,
                     LinkModel model) {
  const Schedule::Totals totals = test::totals_of(transfers, topology, collective.chunks());
  const Schedule schedule = test::listed_schedule(std::move(transfers), totals);
  Result<Simulation> simulation = simulate(topology, collective, schedule, {.link_model = model});
  EXPECT_TRUE(simulation) << simulation.error().to_string();
  return *std::move(simulation);
}

/// N NPUs in a circle, with links one way.
Topology one_way_ring(std::uint32_t npus) {
  TopologyBuilder builder("ring", npus);
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    builder.add_link({.src = NodeId(npu),
                      .dst = NodeId((npu + 1) % npus),
                      .bandwidth = {50LL << 30},
                      .latency = {500'000}});
  }
  return std::move(builder).build().value();
}

constexpr std::int64_t kMessage = 262'144;
/// What ASTRA-sim 2 takes for one hop of it over 50 GiB/s and 500 ns: floor(500 + 4882.8125) ns.
constexpr double kHop = 5382;

double ns(Ticks time) {
  return static_cast<double>(time.ps) * 1e-3;
}

TEST(Simulate, AgreesWithAstraSimOnDirectLinks) {
  const auto all_gather = [](const Topology& topology) {
    const Synthesis made = synthesize_verified(
        topology,
        problem(topology, CollectiveKind::kAllGather, kMessage * topology.num_npus(), 1),
        {.link_model = LinkModel::kPipelined});
    return ns(simulated(topology, made, {.link_model = LinkModel::kPipelined}).time);
  };
  EXPECT_NEAR(all_gather(one_way_ring(4)), 16'146, 3);
  EXPECT_NEAR(all_gather(one_way_ring(8)), 37'674, 7);
  EXPECT_NEAR(all_gather(network("ring:4,bw=50GiBps,lat=500ns")), 10'764, 2);
  EXPECT_NEAR(all_gather(network("ring:8,bw=50GiBps,lat=500ns")), 21'528, 4);
}

TEST(Simulate, OverlapsLatencyAsTheLinkModelSays) {
  // Three messages over one link.
  const Topology topology = network("ring:2,bw=50GiBps,lat=500ns");
  const Collective collective =
      Collective::over_all(CollectiveKind::kBroadcast, {3 * kMessage}, 3, 2).value();
  const std::vector<ListedTransfer> transfers{{.start = 0, .links = {0}, .chunks = {0}},
                                              {.start = 9'000'000, .links = {0}, .chunks = {1}},
                                              {.start = 20'000'000, .links = {0}, .chunks = {2}}};
  EXPECT_NEAR(
      ns(simulated(topology, collective, transfers, LinkModel::kPipelined).time), 15'146, 3);
  const Simulation hold = simulated(topology, collective, transfers, LinkModel::kHold);
  EXPECT_NEAR(ns(hold.time), 3 * kHop, 3);
  EXPECT_DOUBLE_EQ(hold.utilization(LinkId(0)), 1);
  EXPECT_DOUBLE_EQ(hold.utilization(topology), 0.5);
}

TEST(Simulate, PassesAnNpuInTwoHopsAndASwitchInOne) {
  const Collective pair =
      Collective::make(CollectiveKind::kBroadcast, {kMessage}, 1, {NodeId(0), NodeId(1), NodeId(2)})
          .value();
  const Topology ring = one_way_ring(4);
  EXPECT_NEAR(ns(simulated(ring,
                           pair,
                           {{.start = 0, .links = {0}, .chunks = {0}},
                            {.start = 6'000'000, .links = {1}, .chunks = {0}}},
                           LinkModel::kPipelined)
                     .time),
              2 * kHop,
              2);
  // Cut-through, where ASTRA-sim stores and forwards (10764 ns).
  const Topology star = network("switch:4,bw=50GiBps,lat=500ns");
  const LinkId up = star.out_links(NodeId(0)).front();
  const LinkId down = star.in_links(NodeId(1)).front();
  EXPECT_NEAR(ns(simulated(star,
                           pair,
                           {{.start = 0, .links = {up.value(), down.value()}, .chunks = {0}}},
                           LinkModel::kPipelined)
                     .time),
              kHop,
              1);
}

TEST(Simulate, FindsWhatDecidesTheEnd) {
  const Topology ring = one_way_ring(4);
  const Collective collective =
      Collective::over_all(CollectiveKind::kBroadcast, {2 * kMessage}, 2, 4).value();
  // Chunk 1 waits behind chunk 0 on the first link, then goes all the way.
  const Simulation simulation = simulated(ring,
                                          collective,
                                          {{.start = 0, .links = {0}, .chunks = {0}},
                                           {.start = 10'000'000, .links = {0}, .chunks = {1}},
                                           {.start = 10'000'001, .links = {1}, .chunks = {0}},
                                           {.start = 20'000'000, .links = {1}, .chunks = {1}},
                                           {.start = 20'000'001, .links = {2}, .chunks = {0}},
                                           {.start = 30'000'000, .links = {2}, .chunks = {1}}},
                                          LinkModel::kPipelined);
  const CriticalPath& path = simulation.critical_path;
  ASSERT_EQ(path.steps.size(), 4U);
  EXPECT_EQ(path.steps[0].number, 0U);
  EXPECT_EQ(path.steps[1].number, 1U);
  EXPECT_EQ(path.steps[1].wait, CriticalStep::Wait::kLink);
  EXPECT_EQ(path.steps[2].number, 3U);
  EXPECT_EQ(path.steps[2].wait, CriticalStep::Wait::kData);
  EXPECT_EQ(path.steps[3].links, std::vector<LinkId>{LinkId(2)});
  EXPECT_EQ(path.steps[3].end, simulation.time);
  EXPECT_EQ(path.latency.ps, 3 * 500'000);
  EXPECT_NEAR(ns(path.serialization), 3 * 4882.8125, 0.01);
  EXPECT_NEAR(ns(path.waiting), 4882.8125, 0.01);
}

RC_GTEST_PROP(Simulate, CriticalPathAddsUp, ()) {
  const testing::Task task = testing::any_task();
  const LinkModel model = *rc::gen::element(LinkModel::kHold, LinkModel::kPipelined);
  const Synthesis made =
      synthesize_verified(task.topology, task.problem, {.link_model = model, .seed = task.seed});
  const Simulation simulation =
      simulated(task.topology, made, {.link_model = model, .schedule = true});
  RC_ASSERT(simulation.time <= made.schedule->collective_time());
  RC_ASSERT(simulation.schedule->collective_time() == simulation.time);
  RC_ASSERT(simulation.schedule->num_transfers() == simulation.transfers);
  const CriticalPath& path = simulation.critical_path;
  RC_ASSERT(path.latency + path.serialization + path.waiting == simulation.time);
  RC_ASSERT(path.steps.empty() == (simulation.transfers == 0));
  for (std::size_t i = 1; i < path.steps.size(); ++i) {
    const CriticalStep& before = path.steps[i - 1];
    const CriticalStep& step = path.steps[i];
    RC_ASSERT(step.wait != CriticalStep::Wait::kData || step.start == before.end);
  }
}

TEST(Simulate, SlowerLinksMakeItLater) {
  const Topology topology = network("mesh:4x4");
  const Synthesis made =
      synthesize_verified(topology, problem(topology, CollectiveKind::kAllGather, 1 << 24));
  const std::vector<std::string> slow{"slow:5-6=0.25"};
  const Topology slower = apply_failures(topology, slow).value().topology;
  const Ticks before = simulated(topology, made).time;
  const Ticks after = simulated(topology, made, {.topology = &slower}).time;
  EXPECT_GT(after, before);
  EXPECT_LE(after, before * 4);
}

TEST(Simulate, RefusesAFailedLink) {
  const Topology topology = network("ring:4");
  const Synthesis made =
      synthesize_verified(topology, problem(topology, CollectiveKind::kAllGather, 4096));
  const std::vector<std::string> failures{"link:1-2"};
  const Topology broken = apply_failures(topology, failures).value().topology;
  const Result<Simulation> simulation =
      simulate(topology, *made.collective, *made.schedule, {.topology = &broken});
  ASSERT_FALSE(simulation);
  EXPECT_EQ(simulation.error().code, ErrorCode::kInput);
  EXPECT_NE(simulation.error().message.find("node 1 to node 2"), std::string::npos)
      << simulation.error().message;
}

TEST(SimulateJitter, IsBetweenNoneAndAllAndTheSameOnAnyThreads) {
  const Topology topology = network("mesh:4x4");
  const Synthesis made =
      synthesize_verified(topology, problem(topology, CollectiveKind::kAllReduce, 1 << 22));
  const auto draws = [&](double percent, std::uint64_t seed, int threads) {
    return simulate_jitter(topology,
                           *made.collective,
                           *made.schedule,
                           {.percent = percent, .seed = seed},
                           {.threads = threads})
        .value();
  };
  const Ticks none = simulated(topology, made).time;
  const std::vector<Ticks> some = draws(10, 1, 1);
  EXPECT_EQ(some.size(), 32U);
  EXPECT_GT(some.front(), none);
  EXPECT_LE(some.back().ps, none.ps * 11 / 10);
  EXPECT_TRUE(std::is_sorted(some.begin(), some.end()));
  EXPECT_EQ(draws(10, 1, 3), some);
  EXPECT_NE(draws(10, 2, 1), some);
  EXPECT_EQ(draws(0, 1, 1).back(), none);
}

}  // namespace
}  // namespace tacos
