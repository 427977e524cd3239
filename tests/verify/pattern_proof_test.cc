// SPDX-License-Identifier: MIT
// The proof of a pattern against the replay of what it stands for.
#include <gtest/gtest.h>

#include "support/forms.h"
#include "support/patterns.h"
#include "support/problems.h"

namespace tacos::testing {
namespace {

constexpr std::array kKinds{
    CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce};
constexpr std::array kModels{LinkModel::kHold, LinkModel::kPipelined};

struct Case {
  Topology topology;
  Collective collective;
  Pattern pattern;
  LinkModel model = LinkModel::kHold;

  [[nodiscard]] VerifyReport judge(const Schedule& schedule) const {
    return *verify(topology, collective, schedule, {.link_model = model});
  }
  [[nodiscard]] VerifyReport proof() const { return judge(schedule()); }
  [[nodiscard]] VerifyReport replay() const { return judge(expanded(schedule())); }
  /// Says of its time what a replay says.
  [[nodiscard]] Schedule schedule() const {
    const Ticks time = judge(expanded(make_pattern_schedule(pattern, Ticks{0}))).collective_time;
    return make_pattern_schedule(pattern, time);
  }
};

Case make_case(const std::string& spec,
               CollectiveKind kind,
               LinkModel model = LinkModel::kHold,
               std::int64_t chunks = 2) {
  Topology topology = network(spec);
  const std::int64_t buffer = chunks * topology.num_npus();
  const Problem asked =
      problem(topology, kind, buffer * 1000, kind == CollectiveKind::kAllReduce ? buffer : chunks);
  const Result<Synthesis> made =
      synthesize(topology, asked, {.engine = "symmetric", .link_model = model});
  EXPECT_TRUE(made) << made.error().to_string();
  return {
      std::move(topology), *made->collective, *testing::form_of<Pattern>(*made->schedule), model};
}

TEST(PatternProof, AgreesWithTheReplayOfWhatItStandsFor) {
  for (const char* spec : {"ring:2",
                           "ring:31",
                           "torus:6x6x6,bw=100GBps/50GBps/25GBps",
                           "hypercube:7",
                           "fc:17",
                           "switch:20",
                           "ring:4*fc:3*switch:8,bw=200GBps/100GBps/50GBps",
                           "switch:3*ring:5*switch:4,lat=7ps"}) {
    for (const CollectiveKind kind : kKinds) {
      for (const LinkModel model : kModels) {
        const Case made = make_case(spec, kind, model, 1);
        const VerifyReport proof = made.proof();
        const VerifyReport replay = made.replay();
        EXPECT_TRUE(proof.valid()) << spec << ": " << proof.violations.front();
        EXPECT_TRUE(replay.valid()) << spec << ": " << replay.violations.front();
        EXPECT_EQ(proof.num_transfers, replay.num_transfers);
        EXPECT_EQ(proof.collective_time, replay.collective_time);
      }
    }
  }
}

TEST(PatternProof, AgreesWithTheReplayOfMillions) {
  const Case made = make_case("torus:13x13x13", CollectiveKind::kAllGather);
  EXPECT_TRUE(made.proof().valid());
  EXPECT_TRUE(made.replay().valid());
  EXPECT_EQ(made.schedule().num_transfers(), 2ULL * 2197 * 2196);
}

TEST(PatternProof, AgreesOnTimeWhenChunksDifferByAByte) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Topology topology = network(random_product(seed));
    if (topology.num_npus() == 1) {
      continue;
    }
    Rng rng(seed);
    const Problem asked = problem(
        topology, kKinds[rng.below(3)], 5000 + rng.below(5000), 1 + std::int64_t{rng.below(3)});
    const Synthesis made = synthesize_verified(topology, asked, {.engine = "symmetric"});
    const Result<VerifyReport> replay =
        verify(topology, *made.collective, expanded(*made.schedule), {});
    EXPECT_TRUE(replay->valid()) << random_product(seed) << replay->violations.front();
  }
}

/// Changes one thing at random.
void mutate(Pattern& pattern, Rng& rng) {
  PatternEntry& entry =
      pattern.entries[rng.below(static_cast<std::uint32_t>(pattern.entries.size()))];
  std::uint32_t npus = 1;
  for (const std::uint32_t length : pattern.lengths) {
    npus *= length;
  }
  switch (rng.below(7)) {
    case 0:
      entry.start.ps = std::max<std::int64_t>(0, entry.start.ps - 1 - rng.below(100'000));
      break;
    case 1:
      entry.start.ps += 1 + rng.below(100'000);
      break;
    case 2:
      entry.from = rng.below(npus);
      break;
    case 3:
      entry.move = rng.below(static_cast<std::uint32_t>(pattern.moves.size()));
      break;
    case 4:
      entry.chunk = rng.below(pattern.chunks_per_npu);
      break;
    case 5:
      entry.op = entry.op == Op::kCopy ? Op::kReduce : Op::kCopy;
      break;
    default:
      entry = pattern.entries.back();
      pattern.entries.pop_back();
  }
  sort_entries(pattern);
}

TEST(PatternProof, GivesMutatedPatternsTheVerdictOfTheReplay) {
  int wrong = 0;
  int checked = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Rng rng(seed);
    const std::string spec = random_product(seed % 25);
    if (network(spec).num_npus() < 3) {
      continue;
    }
    Case made = make_case(spec, kKinds[rng.below(3)], kModels[rng.below(2)]);
    mutate(made.pattern, rng);
    const bool right = made.replay().valid();
    EXPECT_EQ(made.proof().valid(), right) << spec << ", seed " << seed;
    wrong += right ? 0 : 1;
    ++checked;
  }
  EXPECT_GT(checked, 1000);
  EXPECT_GT(wrong, checked / 2);
}

TEST(PatternProof, RefusesAnElementThatIsReachedTwice) {
  Case made = make_case("torus:3x3", CollectiveKind::kAllGather);
  PatternEntry again = made.pattern.entries.front();
  again.start = made.replay().collective_time;
  made.pattern.entries.push_back(again);
  const VerifyReport report = made.proof();
  ASSERT_FALSE(report.valid());
  EXPECT_NE(report.violations.front().find("twice"), std::string::npos);
}

TEST(PatternProof, RefusesANetworkOnWhichOneLinkDiffers) {
  const Case made = make_case("ring:3*switch:3", CollectiveKind::kAllGather);
  for (std::size_t changed = 0; changed < made.topology.num_links(); ++changed) {
    enum class Change { kSlower, kFarther, kFailed };
    for (const Change change : {Change::kSlower, Change::kFarther, Change::kFailed}) {
      TopologyBuilder builder("changed", made.topology.num_npus(), made.topology.num_switches());
      for (std::size_t i = 0; i < made.topology.num_links(); ++i) {
        Link link = made.topology.all_links()[i];
        if (i == changed && change == Change::kFarther) {
          link.latency.ps += 1;
        } else if (i == changed && change == Change::kSlower) {
          link.bandwidth.bytes_per_second /= 2;
        }
        const bool fails = i == changed && change == Change::kFailed;
        fails ? builder.add_failed_link(link) : builder.add_link(link);
      }
      const Topology topology = std::move(builder).build().value();
      const Schedule schedule = made.schedule();
      EXPECT_FALSE(verify(topology, made.collective, schedule, {})->valid()) << changed;
    }
  }
}

TEST(PatternProof, RefusesLinksThatLeadElsewhere) {
  const Case made = make_case("fc:4", CollectiveKind::kReduceScatter);
  TopologyBuilder builder("crossed", 4);
  std::vector<Link> links(made.topology.links().begin(), made.topology.links().end());
  std::swap(links[3].dst, links[4].dst);
  for (const Link& link : links) {
    builder.add_link(link);
  }
  const Topology topology = std::move(builder).build().value();
  EXPECT_FALSE(verify(topology, made.collective, made.schedule(), {})->valid());
  EXPECT_FALSE(verify(topology, made.collective, expanded(made.schedule()), {})->valid());
}

TEST(PatternProof, RefusesTotalsThatAreNotSo) {
  const Case made = make_case("torus:3x3", CollectiveKind::kAllReduce);
  const Ticks time = made.replay().collective_time;
  EXPECT_TRUE(made.judge(make_pattern_schedule(made.pattern, time)).valid());
  EXPECT_FALSE(made.judge(make_pattern_schedule(made.pattern, time + Ticks{1})).valid());
  Schedule::Totals totals = make_pattern_schedule(made.pattern, time).totals();
  ++totals.transfers;
  EXPECT_FALSE(made.judge(make_schedule(make_pattern_source(made.pattern), totals)).valid());
}

TEST(PatternProof, RefusesAPatternForAnotherCollective) {
  const Case gather = make_case("torus:3x3", CollectiveKind::kAllGather);
  const Case scatter = make_case("torus:3x3", CollectiveKind::kReduceScatter);
  const Case both = make_case("torus:3x3", CollectiveKind::kAllReduce);
  EXPECT_FALSE(gather.judge(scatter.schedule()).valid());
  EXPECT_FALSE(scatter.judge(gather.schedule()).valid());
  EXPECT_FALSE(both.judge(gather.schedule()).valid());
  EXPECT_FALSE(both.judge(scatter.schedule()).valid());
}

TEST(PatternProof, DoesNotJudgeWhatItDoesNotKnow) {
  // Eight copies from an owner to all others, seen as a Broadcast of one chunk for each NPU.
  const Case made = make_case("torus:3x3", CollectiveKind::kAllGather, LinkModel::kHold, 1);
  const Collective broadcast =
      Collective::over_all(CollectiveKind::kBroadcast, made.collective.size(), 9, 9).value();
  EXPECT_FALSE(verify(made.topology, broadcast, made.schedule(), {})->valid());
}

}  // namespace
}  // namespace tacos::testing
