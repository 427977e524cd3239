// SPDX-License-Identifier: MIT
// Whoever looks at NPUs one by one comes to the verdict of a replay.
#include "verify/by_link.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/numbers/rng.h"
#include "verify/link_source.h"
#include "verify/random_cases.h"

namespace tacos::test {
namespace {

struct Verdicts {
  bool by_link = false;
  bool in_order = false;
};

Verdicts judge(const Case& given) {
  const WireTable table(given.topology, given.collective.chunks(), given.options.link_model);
  Violations violations(given.topology, 10);
  const Schedule schedule = listed_schedule(
      given.transfers, totals_of(given.transfers, given.topology, given.collective.chunks()));
  const Result<Counts> expected =
      replay_in_order(table, given.collective, schedule, given.options, violations);
  ThreadPool pool(2);
  const auto by_link = [&](std::uint64_t end) {
    return check_by_link(
        table, given.collective, ListedLinks(given.transfers, end), given.options, pool);
  };
  const std::optional<Counts> counts = by_link(0);
  // With wide numbers as with narrow ones.
  const std::optional<Counts> wide = by_link(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(wide.has_value(), counts.has_value());
  if (counts && wide) {
    EXPECT_EQ(wide->latest, counts->latest);
  }
  if (counts) {
    EXPECT_EQ(counts->transfers, expected->transfers);
    EXPECT_EQ(counts->moves, expected->moves);
    EXPECT_EQ(counts->latest, expected->latest);
  }
  return {.by_link = counts.has_value(), .in_order = violations.count() == 0};
}

// Of two sizes both are taken for the larger one, so that nothing may be said of what is right.
TEST(VerifyByLink, ComesToTheVerdictOfAReplay) {
  int valid = 0;
  int wrong = 0;
  int unequal = 0;
  for (std::uint64_t round = 0; round < 4000; ++round) {
    Rng rng(mix64(7, round));
    Case given = random_valid(rng, CollectiveKind::kAllGather);
    for (std::uint32_t mistakes = rng.below(4); mistakes > 0 && !given.transfers.empty();
         --mistakes) {
      mutate(given, rng);
    }
    sort_by_start(given.transfers);
    if (!ListedLinks::can_list(given.transfers)) {
      continue;
    }
    const Verdicts verdicts = judge(given);
    const ChunkTable& chunks = given.collective.chunks();
    if (chunks.size().count % chunks.count() == 0) {
      ASSERT_EQ(verdicts.by_link, verdicts.in_order) << "round " << round;
      ++(verdicts.in_order ? valid : wrong);
    } else {
      ASSERT_TRUE(verdicts.in_order || !verdicts.by_link) << "round " << round;
      unequal += verdicts.by_link ? 1 : 0;
    }
  }
  EXPECT_GT(valid, 100);
  EXPECT_GT(wrong, 100);
  EXPECT_GT(unequal, 10);
}

TEST(VerifyByLink, RefusesLinksThatLeadToSwitches) {
  Case given{one_way_ring(2), make_collective(CollectiveKind::kAllGather, 1, 2), {}};
  given.transfers = {{0, Op::kCopy, {0}, {0}}, {0, Op::kCopy, {1}, {1}}};
  EXPECT_TRUE(judge(given).by_link);
  TopologyBuilder builder("with a switch", 2, 1);
  builder.add_link(make_link(0, 1));
  builder.add_link(make_link(1, 2));
  builder.add_link(make_link(2, 0));
  given.topology = std::move(builder).build().value();
  EXPECT_FALSE(judge(given).by_link);
  EXPECT_FALSE(judge(given).in_order);
}

TEST(VerifyByLink, KnowsTheLatestTimeThereIs) {
  Case given{one_way_ring(2), make_collective(CollectiveKind::kAllGather, 1, 2), {}};
  for (const std::int64_t later : {0, 1}) {
    const std::int64_t last = kMaxTime.ps - kStep + later;
    given.transfers = {{last, Op::kCopy, {0}, {0}}, {last, Op::kCopy, {1}, {1}}};
    EXPECT_EQ(judge(given).by_link, later == 0);
    EXPECT_EQ(judge(given).in_order, later == 0);
  }
}

}  // namespace
}  // namespace tacos::test
