// SPDX-License-Identifier: MIT
// How many an NPU can have heard of when ports take one message at a time.
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "tacos/bound.h"

#include "support/problems.h"
#include "support/random_network.h"

namespace tacos {
namespace {

using testing::network;
using testing::problem;

Collective tiny(const Topology& topology, CollectiveKind kind) {
  const std::vector<NodeId> everybody = problem(topology, kind, 1).participants;
  return Collective::make(kind, {static_cast<std::int64_t>(everybody.size())}, 1, everybody)
      .value();
}

Bound best(const Topology& topology, CollectiveKind kind, LinkModel model = LinkModel::kHold) {
  const Collective collective = tiny(topology, kind);
  Bound bound = compute_bounds(topology, collective, {.link_model = model}).value().best;
  EXPECT_EQ(check_certificate(topology, collective, bound.certificate).value(), bound.time);
  return bound;
}

TEST(Growth, IsThatOfFibonacciOnOneSwitch) {
  // 1, 1, 2, 3, 5, 8, 13, 21, 34 every 0.25 us.
  const std::array<std::pair<int, std::int64_t>, 6> rows{{{4, 1'000'000},
                                                          {8, 1'250'000},
                                                          {13, 1'500'000},
                                                          {16, 1'750'000},
                                                          {21, 1'750'000},
                                                          {32, 2'000'000}}};
  for (const auto& [npus, ps] : rows) {
    const Topology topology = network("switch:" + std::to_string(npus));
    for (const CollectiveKind kind : {CollectiveKind::kAllGather,
                                      CollectiveKind::kReduceScatter,
                                      CollectiveKind::kAllReduce,
                                      CollectiveKind::kAllToAll,
                                      CollectiveKind::kBroadcast,
                                      CollectiveKind::kReduce,
                                      CollectiveKind::kGather,
                                      CollectiveKind::kScatter}) {
      const Bound bound = best(topology, kind);
      EXPECT_EQ(bound.name, "growth") << npus;
      EXPECT_EQ(bound.time.ps, ps) << npus << ' ' << to_string(kind);
    }
  }
}

TEST(Growth, KnowsTheBoxesOfMachines) {
  EXPECT_EQ(best(network("a100:2"), CollectiveKind::kAllGather).time.ps, 1'250'000);
  EXPECT_EQ(best(network("h100:4"), CollectiveKind::kAllGather).time.ps, 1'500'000);
}

TEST(Growth, IsNotForLinksThatOverlapLatency) {
  const Bound bound = best(network("switch:16"), CollectiveKind::kAllGather, LinkModel::kPipelined);
  EXPECT_NE(bound.name, "growth");
  EXPECT_LT(bound.time.ps, 510'000);
}

TEST(Growth, CertificatesThatClaimMoreAreRefused) {
  const Topology topology = network("switch:16");
  const Collective collective = tiny(topology, CollectiveKind::kAllGather);
  const Certificate good = compute_bounds(topology, collective).value().best.certificate;
  ASSERT_EQ(good.kind, CertificateKind::kGrowth);
  Certificate longer = good;
  ++longer.copies;
  longer.time = {longer.copies * longer.step.ps};
  EXPECT_FALSE(check_certificate(topology, collective, longer));
  Certificate later = good;
  later.time.ps += 1;
  EXPECT_FALSE(check_certificate(topology, collective, later));
  Certificate coarse = good;
  coarse.step = {coarse.step.ps * 2};
  coarse.time = {coarse.copies * coarse.step.ps};
  EXPECT_FALSE(check_certificate(topology, collective, coarse));
  Certificate other = good;
  other.link_model = LinkModel::kPipelined;
  EXPECT_FALSE(check_certificate(topology, collective, other));
  Certificate nobody = good;
  nobody.target = NodeId(16);
  EXPECT_FALSE(check_certificate(topology, collective, nobody));
  const Collective broadcast = tiny(topology, CollectiveKind::kBroadcast);
  EXPECT_FALSE(check_certificate(topology, broadcast, good)) << "nobody has to hear from all";
}

/// Everything that can be done on one switch: each NPU sends to nobody or to one other every
/// quarter of a microsecond; what it sends arrives two quarters later, one at a time.
class OneSwitch {
 public:
  explicit OneSwitch(std::uint32_t npus) : npus_(npus) {}

  /// Quarters until all know all.
  int least_steps() {
    State first = 0;
    for (std::uint32_t i = 0; i < npus_; ++i) {
      first |= word(i, 1U << i);
    }
    std::vector<State> states{first};
    for (int step = 0;; ++step) {
      if (std::any_of(states.begin(), states.end(), [&](State s) { return done(s); })) {
        return step;
      }
      std::vector<State> next;
      for (const State state : states) {
        // What left in the last quarter arrives at the end of this one.
        send(state, (state | state >> kArriving) & kKnown, 0, next);
      }
      keep_one_of_each(next);
      // Nobody is special: of states that differ in names alone one is enough.
      std::transform(next.begin(), next.end(), next.begin(), [&](State s) { return renamed(s); });
      keep_one_of_each(next);
      states = std::move(next);
    }
  }

 private:
  /// Four bits for each of four NPUs: what it knows, and above that what is on its way to it, sent
  /// in the quarter before.
  using State = std::uint32_t;
  static constexpr std::uint32_t kEach = 4;
  static constexpr std::uint32_t kArriving = 16;
  static constexpr State kKnown = (1U << kArriving) - 1;

  static State word(std::uint32_t npu, State known) { return known << npu * kEach; }
  static State part(State state, std::uint32_t npu) { return state >> npu * kEach & 0xFU; }

  static void keep_one_of_each(std::vector<State>& states) {
    std::sort(states.begin(), states.end());
    states.erase(std::unique(states.begin(), states.end()), states.end());
  }
  /// With the names under which it is the smallest number.
  [[nodiscard]] State renamed(State state) const {
    std::array<std::uint32_t, kEach> name{0, 1, 2, 3};
    const auto set_of = [&](State old) {
      State set = 0;
      for (std::uint32_t npu = 0; npu < npus_; ++npu) {
        set |= (old >> npu & 1U) << name[npu];
      }
      return set;
    };
    State least = ~State{0};
    do {
      State other = 0;
      for (std::uint32_t npu = 0; npu < npus_; ++npu) {
        other |= word(name[npu], set_of(part(state, npu)));
        other |= word(name[npu], set_of(part(state >> kArriving, npu))) << kArriving;
      }
      least = std::min(least, other);
    } while (std::next_permutation(name.begin(), name.begin() + npus_));
    return least;
  }

  [[nodiscard]] bool done(State state) const {
    State all = 0;
    for (std::uint32_t npu = 0; npu < npus_; ++npu) {
      all |= word(npu, (1U << npus_) - 1);
    }
    return (state & kKnown) == all;
  }
  /// Of NPU `from` and those after it.
  void send(State before, State after, std::uint32_t from, std::vector<State>& all) {
    if (from == npus_) {
      all.push_back(after);
      return;
    }
    send(before, after, from + 1, all);
    for (std::uint32_t to = 0; to < npus_; ++to) {
      if (to != from && part(after >> kArriving, to) == 0) {
        send(before, after | word(to, part(before, from)) << kArriving, from + 1, all);
      }
    }
  }

  std::uint32_t npus_;
};

TEST(Growth, IsNoMoreThanBruteForceNeeds) {
  for (std::uint32_t npus = 2; npus <= 4; ++npus) {
    const Topology topology = network("switch:" + std::to_string(npus));
    const std::int64_t least = OneSwitch(npus).least_steps() * std::int64_t{250'000};
    const Bound bound = best(topology, CollectiveKind::kAllGather);
    EXPECT_LE(bound.time.ps, least + 1'000) << npus;
    // With 4 NPUs two exchanges are best, and that is proven.
    EXPECT_TRUE(npus != 4 || bound.time.ps == least) << bound.time.ps << ' ' << least;
  }
}

TEST(Growth, IsNeverMoreThanASchedule) {
  for (std::uint64_t number = 0; number < 60; ++number) {
    const Topology topology = testing::random_switched_network(number, 7);
    for (const CollectiveKind kind : {CollectiveKind::kAllGather,
                                      CollectiveKind::kAllReduce,
                                      CollectiveKind::kBroadcast,
                                      CollectiveKind::kGather,
                                      CollectiveKind::kAllToAll}) {
      const Result<Synthesis> made = synthesize(topology, problem(topology, kind, 64));
      if (!made || !made->schedule) {
        continue;
      }
      const Bound bound = compute_bounds(topology, *made->collective).value().best;
      EXPECT_LE(bound.time, made->schedule->collective_time()) << topology.name();
      EXPECT_EQ(check_certificate(topology, *made->collective, bound.certificate).value(),
                bound.time);
    }
  }
}

}  // namespace
}  // namespace tacos
