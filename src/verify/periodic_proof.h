// SPDX-License-Identifier: MIT
// Verdict on a periodic schedule without expanding it: what must hold between its rounds, and one
// round as a schedule of its own, to be replayed.
#pragma once

#include <cstdint>
#include <optional>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "schedule/periodic/timetable.h"
#include "verify/violations.h"

namespace tacos {

/// One round of a periodic schedule, all of its chunks of equal size.
struct Round {
  Collective collective;
  Schedule schedule;
};

/// The first round with chunks of `bytes`, numbered one after the other. Nothing when rounds are
/// not alike: when the chunks of a round have other owners than those of the next, or when the
/// collective lists the ends of each chunk. The timetable must outlive the round.
[[nodiscard]] std::optional<Round> first_round(const Collective& collective,
                                               const Timetable& timetable,
                                               Bytes bytes);

/// Checks all but the data of a round; when the last transfer ends, or nothing when there are
/// violations. O(entries log entries) and 16 bytes for each link of an entry.
[[nodiscard]] std::optional<Ticks> check_period(const Topology& topology,
                                                const Collective& collective,
                                                LinkModel model,
                                                const Timetable& timetable,
                                                Violations& violations);

}  // namespace tacos
