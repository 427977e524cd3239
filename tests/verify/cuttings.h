// SPDX-License-Identifier: MIT
// However a replay is cut, the verdict and the words are those of one that is not.
#pragma once

#include <algorithm>
#include <array>
#include <optional>

#include <gtest/gtest.h>

#include "tacos/verify.h"

#include "schedule/source.h"
#include "verify/by_link.h"
#include "verify/by_team.h"
#include "verify/in_order.h"
#include "verify/in_slices.h"
#include "verify/violations.h"
#include "verify/wire_table.h"

namespace tacos::test {

/// From hardly any cuts to slices of one chunk.
inline const std::array kCuttings{
    SliceOptions{.least_transfers = 0, .stretch = 1 << 20U, .slices_per_thread = 1},
    SliceOptions{.least_transfers = 0, .stretch = 7, .slices_per_thread = 2},
    SliceOptions{.least_transfers = 0, .stretch = 1, .slices_per_thread = 9, .slice_bytes = 1}};

/// With stretches not so short that a long schedule takes minutes.
[[nodiscard]] inline SliceOptions cut_for(const Schedule& schedule, SliceOptions cut) {
  constexpr std::uint64_t kMostStretches = 128;
  cut.stretch = std::max(cut.stretch, schedule.num_transfers() / kMostStretches);
  return cut;
}

/// Slices, and lists of links where there are any, find a schedule right if and only if one thread
/// finds nothing to say against it.
inline void expect_same_verdict(const Topology& topology,
                                const Collective& collective,
                                const Schedule& schedule,
                                const VerifyOptions& options) {
  const auto participants = collective.participants();
  const bool all_npus = std::all_of(
      participants.begin(), participants.end(), [&](NodeId node) { return topology.is_npu(node); });
  if (!all_npus || topology.num_links() == 0) {
    return;
  }
  const WireTable table(topology, collective.chunks(), options.link_model);
  Violations violations(topology, options.max_violations);
  const Result<Counts> in_order = replay_in_order(table, collective, schedule, options, violations);
  for (const SliceOptions& cut : kCuttings) {
    Alone alone;
    const std::optional<Counts> counts =
        replay_in_slices(table, collective, schedule, options, cut_for(schedule, cut), alone);
    ASSERT_EQ(counts.has_value(), in_order && violations.count() == 0);
    if (counts) {
      EXPECT_EQ(counts->transfers, in_order->transfers);
      EXPECT_EQ(counts->moves, in_order->moves);
      EXPECT_EQ(counts->latest, in_order->latest);
    }
  }
  ThreadPool pool(2);
  const auto lists = source_of(schedule).link_lists(pool);
  if (lists != nullptr && !collective.reduces()) {
    const std::optional<Counts> counts = check_by_link(table, collective, *lists, options, pool);
    ASSERT_EQ(counts.has_value(), in_order && violations.count() == 0);
    if (counts) {
      EXPECT_EQ(counts->transfers, in_order->transfers);
      EXPECT_EQ(counts->moves, in_order->moves);
      EXPECT_EQ(counts->latest, in_order->latest);
    }
  }
}

inline void expect_same_report(const VerifyReport& report, const VerifyReport& expected) {
  EXPECT_EQ(report.violations, expected.violations);
  EXPECT_EQ(report.num_violations, expected.num_violations);
  EXPECT_EQ(report.num_transfers, expected.num_transfers);
  EXPECT_EQ(report.collective_time, expected.collective_time);
}

/// On several numbers of threads, each with another cutting.
inline void expect_same_on_threads(const Topology& topology,
                                   const Collective& collective,
                                   const Schedule& schedule,
                                   VerifyOptions options = {}) {
  options.threads = 1;
  const Result<VerifyReport> expected = verify(topology, collective, schedule, options);
  std::size_t cutting = 0;
  for (const int threads : {2, 3, 8}) {
    options.threads = threads;
    Alone alone;
    const SliceOptions cut = cut_for(schedule, kCuttings[cutting++ % kCuttings.size()]);
    const Result<VerifyReport> report =
        verify_by_team(topology, collective, schedule, options, alone, cut);
    ASSERT_EQ(report.has_value(), expected.has_value());
    if (report) {
      expect_same_report(*report, *expected);
    } else {
      EXPECT_EQ(report.error().to_string(), expected.error().to_string());
    }
  }
}

}  // namespace tacos::test
