// SPDX-License-Identifier: MIT
// Schedules made of schedules: run backwards, or one after the other.
#pragma once

#include "tacos/schedule.h"

#include "synthesis/common/delivery_buffer.h"

namespace tacos {

/// Appends `gather`, a copying schedule against the links, backwards: what was copied out from one
/// place is reduced into it. Exact on direct links: a transfer over [s, e) becomes one over
/// [T-e, T-s), so busy links stay disjoint, and what left after it came now comes before it leaves.
///
/// `planned_end` is when the last transfer of `gather` would end if all chunks were the largest.
void append_reversed(const Schedule& gather,
                     Ticks planned_end,
                     const ArrivalClock& clock,
                     ScheduleBuilder& out);

/// Appends the transfers of a copying schedule, `delay` later.
void append_delayed(const Schedule& gather,
                    const ArrivalClock& clock,
                    Ticks delay,
                    ScheduleBuilder& out);

}  // namespace tacos
