// SPDX-License-Identifier: MIT
// A schedule for what is left to do after a failure that struck while another ran.
//
// Its collective says what was where at that moment and what must be where. Its time zero is that
// moment, or the start of the first of the copies that were under way then: those are in it as they
// were, and nothing else starts before the moment. So it can be verified like any other.
//
// Two ways to it, the faster is taken: the transfers that were left, with what is broken routed
// anew (reroute.h; parts of sums are read backwards, as copies from where the sum was to be made),
// and a synthesis of what is left. Both are orders; times are the earliest (retime.h).
#pragma once

#include <cstdint>
#include <span>

#include "tacos/repair.h"
#include "tacos/result.h"
#include "tacos/topology.h"

#include "repair/snapshot.h"

namespace tacos::repairing {

/// `good_enough` is a time of the whole, counted from the beginning of the schedule that was: when
/// what was left is done by then, nothing else is tried. Fails with kInfeasible where somebody
/// cannot be reached. O(transfers log transfers + chunks x links log nodes).
[[nodiscard]] Result<ResumedSchedule> resume(const Bundle& before,
                                             const Topology& now,
                                             const Snapshot& snapshot,
                                             Ticks at,
                                             Ticks good_enough);

}  // namespace tacos::repairing
