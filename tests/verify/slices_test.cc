// SPDX-License-Identifier: MIT
// Threads and processes that share out a replay come to the verdict of one, in the same words.
#include <gtest/gtest.h>

#include "base/numbers/rng.h"
#include "schedule/packed_schedule.h"
#include "support/thread_team.h"
#include "verify/cuttings.h"
#include "verify/random_cases.h"
#include "verify/split_source.h"

namespace tacos::test {
namespace {

constexpr std::array kKinds{
    CollectiveKind::kAllGather, CollectiveKind::kReduceScatter, CollectiveKind::kAllReduce};

/// Valid in one of four rounds.
Case random_case(std::uint64_t round, CollectiveKind kind) {
  Rng rng(mix64(4, round));
  Case made = random_valid(rng, kind);
  for (std::uint32_t mistakes = rng.below(4); mistakes > 0; --mistakes) {
    mutate(made, rng);
  }
  return made;
}

Schedule::Totals totals_of(const Case& given) {
  return totals_of(given.transfers, given.topology, given.collective.chunks());
}

TEST(VerifySlices, SaysTheSameOnAnyNumberOfThreads) {
  for (const CollectiveKind kind : kKinds) {
    for (std::uint64_t round = 0; round < 40; ++round) {
      const Case given = random_case(round, kind);
      expect_same_on_threads(given.topology,
                             given.collective,
                             listed_schedule(given.transfers, totals_of(given)),
                             given.options);
    }
  }
}

// Who reads what, and that links are looked at while sorting, makes no difference. Strips that are
// side by side are in start order, as they are where there are any.
TEST(VerifySlices, ComesToOneVerdictHoweverStripsAreCut) {
  int valid = 0;
  int wrong = 0;
  for (const CollectiveKind kind : kKinds) {
    for (std::uint64_t round = 0; round < 400; ++round) {
      Case given = random_case(round, kind);
      for (const std::size_t strips : {1, 3}) {
        for (const bool one_by_one : {true, false}) {
          if (!one_by_one) {
            sort_by_start(given.transfers);
          }
          const Schedule split = split_schedule(
              given.transfers, totals_of(given), {.strips = strips, .one_by_one = one_by_one});
          expect_same_verdict(given.topology, given.collective, split, given.options);
        }
      }
      ++(given.report().valid() ? valid : wrong);
    }
  }
  EXPECT_GT(valid, 100);
  EXPECT_GT(wrong, 100);
}

TEST(VerifySlices, SaysTheSameByAnyNumberOfProcesses) {
  for (const CollectiveKind kind : kKinds) {
    for (std::uint64_t round = 0; round < 30; ++round) {
      Case given = random_case(round, kind);
      sort_by_start(given.transfers);
      const VerifyReport expected = given.report();
      for (const int members : {2, 3}) {
        run_as_team(members, [&](Team& team) {
          const Schedule mine =
              split_schedule(given.transfers,
                             totals_of(given),
                             {.strips = 2, .member = team.member(), .members = members});
          const Result<VerifyReport> report = verify_by_team(given.topology,
                                                             given.collective,
                                                             mine,
                                                             given.options,
                                                             team,
                                                             kCuttings[round % kCuttings.size()]);
          ASSERT_TRUE(report) << report.error().to_string();
          expect_same_report(*report, expected);
        });
      }
    }
  }
}

// The others help although they have no transfers, and know the verdict.
TEST(VerifySlices, SharesOutWhatOnlyTheLeaderHolds) {
  for (const CollectiveKind kind : kKinds) {
    for (std::uint64_t round = 0; round < 10; ++round) {
      const Case given = random_case(round, kind);
      const VerifyReport expected = given.report();
      run_as_team(3, [&](Team& team) {
        const Schedule::Totals totals = totals_of(given);
        const Schedule mine =
            team.leads() ? listed_schedule(given.transfers, totals) : absent_schedule(totals);
        for (const SliceOptions& cut : {kCuttings[1], SliceOptions{}}) {
          const Result<VerifyReport> report =
              verify_by_team(given.topology, given.collective, mine, given.options, team, cut);
          ASSERT_TRUE(report) << report.error().to_string();
          expect_same_report(*report, expected);
        }
      });
    }
  }
}

TEST(VerifySlices, TellsHowFarItIs) {
  const Case given = ring_all_reduce(8);
  std::vector<double> told;
  VerifyOptions options{.threads = 2, .progress = [&](double share) { told.push_back(share); }};
  // Two chunks at a time, so four passes.
  options.memory_bytes = std::size_t{2} * 16 * 8;
  Alone alone;
  const Result<VerifyReport> report =
      verify_by_team(given.topology,
                     given.collective,
                     listed_schedule(given.transfers, totals_of(given)),
                     options,
                     alone,
                     kCuttings[1]);
  ASSERT_TRUE(report && report->valid());
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_DOUBLE_EQ(told.back(), 1);
  EXPECT_GT(told.size(), 8U);
}

}  // namespace
}  // namespace tacos::test
