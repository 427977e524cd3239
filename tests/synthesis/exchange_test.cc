// SPDX-License-Identifier: MIT
#include "synthesis/exchange/exchange.h"

#include <array>
#include <numeric>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "support/problems.h"
#include "support/random_task.h"
#include "support/reference_exchange.h"
#include "synthesis/exchange/clocks.h"
#include "synthesis/exchange/layout.h"
#include "synthesis/exchange/rooted.h"

namespace tacos {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::network;
using testing::problem;
using testing::reference_exchange;
using testing::ReferenceExchange;
using testing::synthesize_verified;

using testing::kKiB;
constexpr std::array kEveryKind{CollectiveKind::kAllGather,
                                CollectiveKind::kReduceScatter,
                                CollectiveKind::kAllReduce,
                                CollectiveKind::kBroadcast,
                                CollectiveKind::kReduce,
                                CollectiveKind::kGather,
                                CollectiveKind::kScatter,
                                CollectiveKind::kAllToAll};

std::int64_t time_of(const Topology& topology,
                     const Problem& task,
                     const std::string& engine = "exchange",
                     LinkModel model = LinkModel::kHold) {
  return synthesize_verified(topology, task, {.engine = engine, .link_model = model})
      .schedule->collective_time()
      .ps;
}

std::int64_t time_of(const std::string& spec,
                     CollectiveKind kind,
                     std::int64_t size,
                     const std::string& engine = "exchange") {
  const Topology topology = network(spec);
  return time_of(topology, problem(topology, kind, size), engine);
}

/// So fast that bytes hardly count; a port is held for a microsecond.
std::string quick_switch(std::uint32_t npus) {
  return fmt::format("switch:{},bw=1000000GBps,lat=2us", npus);
}
constexpr std::int64_t kHalf = 1'000'000;

// What the bound on growth says, with brute force, no schedule can beat.
TEST(Exchange, GrowsAsFastAsPortsAllow) {
  // 1, 1, 2, 3, 5, 8, 13, 21 know of each other every half of a latency.
  struct Case {
    std::uint32_t npus;
    std::int64_t halves;
  };
  for (const auto& [npus, halves] : {Case{2, 2},
                                     Case{3, 3},
                                     Case{4, 4},
                                     Case{5, 4},
                                     Case{7, 5},
                                     Case{8, 5},
                                     Case{11, 6},
                                     Case{13, 6},
                                     Case{16, 7},
                                     Case{21, 7}}) {
    for (const CollectiveKind kind : kEveryKind) {
      if (kind == CollectiveKind::kAllReduce) {
        continue;
      }
      const std::int64_t time = time_of(quick_switch(npus), kind, kKiB * npus);
      EXPECT_GE(time, halves * kHalf) << npus << to_string(kind);
      EXPECT_LE(time, halves * kHalf + kHalf / 100) << npus << to_string(kind);
    }
  }
}

TEST(Exchange, SumsInRoundsOfTwoThroughOnePort) {
  // What is sent must not change before it has arrived: a whole latency for each doubling.
  for (const auto& [npus, halves] : {std::pair(2U, 2), {4U, 4}, {8U, 6}, {16U, 8}, {6U, 6}}) {
    const std::int64_t time = time_of(quick_switch(npus), CollectiveKind::kAllReduce, kKiB);
    EXPECT_GE(time, halves * kHalf) << npus;
    EXPECT_LE(time, halves * kHalf + kHalf / 100) << npus;
  }
  // 4, 5 and 6 are a group of three that has to tell four others.
  EXPECT_LE(time_of(quick_switch(7), CollectiveKind::kAllReduce, kKiB), 7 * kHalf + kHalf / 100);
}

/// NPUs on several switches each, all on all.
Topology on_switches(std::uint32_t npus, std::uint32_t switches) {
  TopologyBuilder builder("ports", npus, switches);
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    for (std::uint32_t i = 0; i < switches; ++i) {
      builder.add_both({.src = NodeId(npu),
                        .dst = NodeId(npus + i),
                        .bandwidth = {1'000'000'000'000'000},
                        .latency = {kHalf}});
    }
  }
  return *std::move(builder).build();
}

TEST(Exchange, SumsInRoundsOfThreeThroughTwoPorts) {
  for (const auto& [npus, halves] : {std::pair(3U, 2), {9U, 4}, {8U, 5}, {27U, 6}}) {
    const Topology topology = on_switches(npus, 2);
    const std::int64_t time =
        time_of(topology, problem(topology, CollectiveKind::kAllReduce, kKiB));
    EXPECT_GE(time, halves * kHalf) << npus;
    EXPECT_LE(time, halves * kHalf + kHalf / 50) << npus;
  }
}

TEST(Exchange, UsesAllPortsAtOnce) {
  // 1, 1, 3, 5, 11, 21 through two, 1, 1, 4, 7, 19, 40 through three.
  for (const auto& [npus, switches, halves] :
       {std::tuple(3U, 2U, 2), {5U, 2U, 3}, {11U, 2U, 4}, {4U, 3U, 2}, {7U, 3U, 3}}) {
    const Topology topology = on_switches(npus, switches);
    for (const CollectiveKind kind : {CollectiveKind::kAllGather, CollectiveKind::kAllToAll}) {
      const std::int64_t time = time_of(topology, problem(topology, kind, kKiB));
      EXPECT_GE(time, halves * kHalf) << npus;
      EXPECT_LE(time, halves * kHalf + kHalf / 50) << npus << to_string(kind);
    }
  }
}

/// Microseconds.
double auto_time(const std::string& spec, CollectiveKind kind, std::int64_t size = kKiB) {
  return static_cast<double>(time_of(spec, kind, size, "auto")) * 1e-6;
}

TEST(Exchange, ReachesWhatWasAskedForThroughSwitches) {
  EXPECT_LT(auto_time("a100:2", CollectiveKind::kAllToAll), 1.3);
  EXPECT_LT(auto_time("h100:4", CollectiveKind::kAllToAll), 1.8);
  EXPECT_LT(auto_time("switch-2d", CollectiveKind::kAllToAll), 2.05);
  // The bounds are 1.75, 1.25, 1.5 and 1.5 us.
  EXPECT_LT(auto_time("switch:16", CollectiveKind::kAllGather), 1.78);
  EXPECT_LT(auto_time("a100:2", CollectiveKind::kAllGather), 1.3);
  EXPECT_LT(auto_time("h100:4", CollectiveKind::kAllGather), 1.8);
  EXPECT_LT(auto_time("switch-2d", CollectiveKind::kAllGather), 1.8);
  // Recursive doubling takes 2.05 and 2.55.
  EXPECT_LT(auto_time("a100:2", CollectiveKind::kAllReduce), 1.9);
  EXPECT_LT(auto_time("h100:4", CollectiveKind::kAllReduce), 2.35);
  EXPECT_LT(auto_time("h100:4", CollectiveKind::kGather), 1.55);
  EXPECT_LT(auto_time("h100:4", CollectiveKind::kScatter, 64 * kKiB), 1.95);
}

TEST(Exchange, GivesRolesToNpusThatDiffer) {
  // Odd NPUs of a box send to other boxes, even ones receive; ndv2 has one of each, and mi250 wires
  // between some.
  EXPECT_LT(time_of("dgx2:2", CollectiveKind::kAllToAll, kKiB), 6'000'000);
  EXPECT_LT(time_of("dgx2:2", CollectiveKind::kAllGather, kKiB), 6'000'000);
  EXPECT_LT(time_of("ndv2:2", CollectiveKind::kAllGather, kKiB), 5'600'000);
  EXPECT_LT(time_of("mi250:2", CollectiveKind::kAllToAll, 64 * kKiB), 4'700'000);
}

TEST(Exchange, IsNoSlowerThanAlgorithmsFromBooks) {
  for (const char* spec :
       {"switch:12", "switch:16", "a100:2", "switch:4*switch:4", "rail:2x4", "fat-tree:4"}) {
    const Topology topology = network(spec);
    for (const std::int64_t size : {kKiB, 64 * kKiB}) {
      for (const auto& [kind, books] :
           {std::pair(CollectiveKind::kAllToAll, std::vector{"bruck", "pairwise", "direct"}),
            {CollectiveKind::kAllGather, {"bruck", "halving-doubling", "themis"}},
            {CollectiveKind::kScatter, {"binomial", "direct"}},
            {CollectiveKind::kGather, {"binomial", "direct"}}}) {
        const Problem task = problem(topology, kind, size);
        const std::int64_t time = time_of(topology, task);
        for (const std::string book : books) {
          const Result<Synthesis> other = synthesize(topology, task, {.engine = book});
          if (other) {
            EXPECT_LE(time, other->schedule->collective_time().ps)
                << spec << ' ' << to_string(kind) << ' ' << size << ' ' << book;
          }
        }
      }
    }
  }
}

RC_GTEST_PROP(Exchange, VerifiesThroughSwitches, ()) {
  const auto number = *rc::gen::arbitrary<std::uint64_t>();
  Rng rng(number);
  const Topology topology = testing::random_switched_network(number, 12);
  Problem task = problem(topology,
                         kEveryKind[rng.below(kEveryKind.size())],
                         (std::int64_t{1} << (9 + rng.below(14))) + rng.below(64));
  if (rng.below(2) == 0) {
    task.chunks = 1 + rng.below(3);
  }
  if (rng.below(3) == 0 && topology.num_npus() > 3) {
    std::erase_if(task.participants, [&](NodeId npu) { return npu.value() % 3 == 1; });
  }
  if (is_rooted(task.kind)) {
    task.root = task.participants[rng.below(static_cast<std::uint32_t>(task.participants.size()))];
  }
  const SynthesisOptions options{
      .engine = "exchange",
      .link_model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined,
      .seed = rng.below(100)};
  const Result<Synthesis> made = synthesize(topology, task, options);
  RC_PRE(made.has_value());
  RC_CLASSIFY(true, std::string(to_string(task.kind)));
  (void)synthesize_verified(topology, task, options);
}

TEST(Exchange, CopesWithOddShapes) {
  const auto check = [](const Topology& topology, std::vector<NodeId> participants) {
    for (const CollectiveKind kind : kEveryKind) {
      for (const LinkModel model : {LinkModel::kHold, LinkModel::kPipelined}) {
        Problem task = problem(topology, kind, 10'007, 3);
        task.participants = participants;
        if (is_rooted(kind)) {
          task.root = participants[participants.size() / 2];
        }
        const Result<Synthesis> made =
            synthesize(topology, task, {.engine = "exchange", .link_model = model});
        if (made) {
          (void)time_of(topology, task, "exchange", model);
        } else {
          EXPECT_THAT(made.error().message, HasSubstr("exchange")) << topology.name();
        }
      }
    }
  };
  const auto all = [](const Topology& topology) {
    return problem(topology, CollectiveKind::kAllGather, 1).participants;
  };
  for (const char* spec : {"switch:2",
                           "switch:11",
                           "h100:3",
                           "switch:3*ring:5",
                           "switch:5,gap=3us",
                           "leaf-spine:3x2x3",
                           "switch:4*switch:4,lat=0ns",
                           "torus:3x4",
                           "fc:5,forward=yes"}) {
    const Topology topology = network(spec);
    check(topology, all(topology));
  }
  const Topology h100 = network("h100:2");
  check(h100, {NodeId(1), NodeId(2), NodeId(5), NodeId(9), NodeId(14)});
  for (const char* failure : {"link:3-16", "link:3>18", "slow:2-16=0.1"}) {
    const std::array<std::string, 1> failures{failure};
    const Topology broken = apply_failures(h100, failures)->topology;
    check(broken, all(broken));
  }
  // Two links side by side from every NPU to its switch.
  TopologyBuilder builder("parallel", 5, 1);
  for (std::uint32_t npu = 0; npu < 5; ++npu) {
    for (int i = 0; i < 2; ++i) {
      builder.add_both({.src = NodeId(npu),
                        .dst = NodeId(5),
                        .bandwidth = {50'000'000'000},
                        .latency = {1'000}});
    }
  }
  const Topology parallel = *std::move(builder).build();
  check(parallel, all(parallel));
}

TEST(Exchange, IsForUpTo128Participants) {
  const Topology topology = network("switch:129");
  const Problem task = problem(topology, CollectiveKind::kAllGather, kKiB);
  const Result<Synthesis> made = synthesize(topology, task, {.engine = "exchange"});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("does not make all-gather on this network"));
  Problem some = task;
  some.participants.resize(16);
  EXPECT_TRUE(synthesize(topology, some, {.engine = "exchange"}));
}

TEST(Exchange, GivesUpOnWhatLastsForMinutes) {
  const Topology topology = network("switch:4,bw=1MBps");
  const Problem task = problem(topology, CollectiveKind::kAllToAll, std::int64_t{1} << 26U);
  EXPECT_FALSE(synthesize(topology, task, {.engine = "exchange"}));
  EXPECT_TRUE(synthesize(topology, task));
}

TEST(Exchange, GivesTheSameBytesEachTime) {
  for (const char* spec : {"h100:2", "dgx2:2", "leaf-spine:3x2x2"}) {
    const Topology topology = network(spec);
    for (const CollectiveKind kind : kEveryKind) {
      const Problem task = problem(topology, kind, 16 * kKiB);
      const SynthesisOptions options{.engine = "exchange", .seed = 7};
      SynthesisOptions threads = options;
      threads.threads = 3;
      EXPECT_EQ(synthesize(topology, task, options)->schedule->hash(),
                synthesize(topology, task, threads)->schedule->hash());
    }
  }
}

/// A network, its hops and its layout, kept together.
struct Laid {
  Topology topology;
  exchange::Hops hops;
  exchange::Layout layout;
  exchange::Moves moves;

  Laid(const std::string& spec, std::uint32_t roles)
      : topology(network(spec)),
        hops(topology, problem(topology, CollectiveKind::kAllGather, 1).participants, {kKiB}),
        layout(exchange::with_roles(exchange::find_layouts(topology, hops).front(), roles)),
        moves(hops, layout, layout.group.num_digits()) {}
};

TEST(ExchangeLayout, FindsBoxesWithinBoxes) {
  const auto lengths = [](const std::string& spec) {
    const Laid laid(spec, 1);
    const auto found = laid.layout.group.lengths();
    return std::vector(found.begin(), found.end());
  };
  EXPECT_THAT(lengths("h100:4"), ElementsAre(8, 4));
  EXPECT_THAT(lengths("fat-tree:4"), ElementsAre(2, 2, 4));
  EXPECT_THAT(lengths("leaf-spine:4x3x2"), ElementsAre(4, 3));
  EXPECT_THAT(lengths("switch:7"), ElementsAre(7));
  EXPECT_THAT(lengths("switch-2d"), ElementsAre(8, 4));
  // The same whatever the numbers: the second dimension is the faster one.
  Topology plain = network("hetero-switch:3x4");
  TopologyBuilder builder("plain", plain.num_npus(), plain.num_switches());
  for (const Link& link : plain.all_links()) {
    builder.add_link(link);
  }
  plain = *std::move(builder).build();
  const exchange::Hops hops(
      plain, problem(plain, CollectiveKind::kAllGather, 1).participants, {kKiB});
  const exchange::Layout layout = exchange::find_layouts(plain, hops).front();
  EXPECT_THAT(layout.group.lengths(), ElementsAre(4, 3));
  EXPECT_THAT(std::vector(layout.participant.begin(), layout.participant.begin() + 5),
              ElementsAre(0, 3, 6, 9, 1));
}

TEST(ExchangeLayout, KeepsBoxesOfWhichOneIsBroken) {
  const std::array<std::string, 1> failures{"link:3-32"};
  const Topology broken = apply_failures(network("h100:4"), failures)->topology;
  const exchange::Hops hops(
      broken, problem(broken, CollectiveKind::kAllGather, 1).participants, {kKiB});
  EXPECT_THAT(exchange::find_layouts(broken, hops).front().group.lengths(), ElementsAre(8, 4));
}

TEST(ExchangeHops, TakeEveryRouteAndSpreadOverSpines) {
  const Laid h100("h100:2", 1);
  EXPECT_EQ(h100.hops.between(0, 1).size(), 2U);
  EXPECT_EQ(h100.hops.between(0, 8).size(), 1U);
  // To four NPUs of another leaf over two spines: two messages each.
  const Laid laid("leaf-spine:4x2x2", 1);
  std::vector<std::uint32_t> used(laid.topology.num_links(), 0);
  for (std::uint32_t i = 0; i < 4; ++i) {
    for (const LinkId link : laid.hops.route(laid.hops.between(i, 4 + i).front())) {
      ++used[link.index()];
    }
  }
  EXPECT_EQ(*std::max_element(used.begin(), used.end()), 2U);
}

/// Any entries, and then enough to reach everybody.
exchange::Routine random_plan(const exchange::Moves& moves, Rng& rng) {
  exchange::Routine routine;
  const std::uint32_t entries = 1 + rng.below(6);
  for (std::uint32_t i = 0; i < entries; ++i) {
    routine.push_back({.move = rng.below(moves.size()), .seen = rng.below(i + 1)});
  }
  exchange::Cargo cargo(moves, exchange::Content::kSame);
  while (rng.below(16) != 0 && !cargo.load(routine)) {
    const auto seen = static_cast<std::uint32_t>(routine.size());
    routine.push_back({.move = rng.below(moves.size()), .seen = seen - rng.below(2)});
  }
  return routine;
}

RC_GTEST_PROP(ExchangePlan, TakesWhatMessageByMessageItTakes, ()) {
  const auto number = *rc::gen::arbitrary<std::uint64_t>();
  Rng rng(number);
  struct Case {
    const char* spec;
    std::uint32_t roles;
  };
  constexpr std::array kCases{Case{"switch:7", 1},
                              Case{"h100:2", 1},
                              Case{"switch:3*switch:4", 1},
                              Case{"leaf-spine:3x2x2", 1},
                              Case{"leaf-spine:3x2x2", 3},
                              Case{"dgx2:2", 2},
                              Case{"ring:4*switch:2", 1}};
  const Case& chosen = kCases[rng.below(kCases.size())];
  const Laid laid(chosen.spec, chosen.roles);
  const exchange::Routine routine = random_plan(laid.moves, rng);
  const auto content = rng.below(2) == 0 ? exchange::Content::kSame : exchange::Content::kPairs;
  const Bytes part{1 + rng.below(100'000)};
  const LinkModel model = rng.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined;
  const ReferenceExchange expected =
      reference_exchange(laid.topology, laid.moves, content, part, model, routine);

  exchange::Cargo cargo(laid.moves, content);
  RC_ASSERT(cargo.load(routine) == expected.complete);
  if (!expected.complete) {
    return;
  }
  const exchange::Costs costs(
      laid.topology, part, laid.moves.num_reached() * laid.moves.roles(), model);
  exchange::Clock clock(laid.moves, costs);
  const auto exact = clock.time(routine, cargo, exchange::kLongest);
  RC_ASSERT(exact.has_value());
  RC_ASSERT(exact->end == expected.end);
  // One participant sees it all where all are alike and only their own links are scarce.
  if (laid.topology.dimensions().size() > 0 && model == LinkModel::kHold) {
    exchange::Glance glance(laid.moves, costs);
    RC_ASSERT(glance.time(routine, cargo, exchange::kLongest)->end == expected.end);
  }
}

TEST(ExchangePlan, KeepsWhatEntriesSeeWhenOthersComeAndGo) {
  exchange::Routine routine{{0, 0}, {1, 1}, {2, 2}, {3, 1}};
  exchange::erase_entry(routine, 1);
  EXPECT_THAT(routine,
              ElementsAre(exchange::Entry{0, 0}, exchange::Entry{2, 1}, exchange::Entry{3, 1}));
  exchange::insert_entry(routine, 0, {9, 0});
  EXPECT_THAT(routine,
              ElementsAre(exchange::Entry{9, 0},
                          exchange::Entry{0, 0},
                          exchange::Entry{2, 2},
                          exchange::Entry{3, 2}));
}

}  // namespace
}  // namespace tacos
