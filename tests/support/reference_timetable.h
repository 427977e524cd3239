// SPDX-License-Identifier: MIT
// Periodic schedules, naively: expanded round by round, and planned one transfer after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "schedule/periodic/timetable.h"
#include "support/listed_schedule.h"

namespace tacos::testing {

/// Every transfer of every round, in the order of a schedule.
[[nodiscard]] std::vector<test::ListedTransfer> expand(const Timetable& timetable);

/// A timetable with the collective that it is for.
struct PeriodicCase {
  Topology topology;
  Collective collective;
  LinkModel model = LinkModel::kHold;
  Timetable timetable;

  /// Says of its time what a replay of its transfers says.
  [[nodiscard]] Schedule schedule() const;
};

/// Of a long one there is more than enough for a round; in a short one, over direct links, a round
/// takes several.
enum class PeriodLength { kLong, kShort };

/// Random trees over the shortest routes through switches, each transfer at the first time at which
/// it can be repeated, over direct links with up to `seats` others. Of the collectives that a tree
/// can do, for all NPUs.
[[nodiscard]] PeriodicCase random_periodic_case(std::uint64_t number,
                                                PeriodLength length = PeriodLength::kLong,
                                                std::int64_t seats = 1);

/// In the order that a timetable must have.
void sort_entries(Timetable& timetable);

}  // namespace tacos::testing
