// SPDX-License-Identifier: MIT
// Schedules on their way from one process to another.
#pragma once

#include <span>

#include "tacos/schedule.h"

#include "base/parallel/packet.h"
#include "schedule/patterns/pattern.h"

namespace tacos {

/// Everything in a schedule: its pattern, orbits or timetable, or its transfers as the blocks of a
/// file.
[[nodiscard]] Packet pack_schedule(const Schedule& schedule, std::uint32_t num_links);
/// What was packed, for the network and the chunks in `limits`.
[[nodiscard]] Schedule unpack_schedule(std::span<const std::byte> packed,
                                       const PatternLimits& limits);

/// A schedule whose transfers are with another process: only its totals are here.
[[nodiscard]] Schedule absent_schedule(const Schedule::Totals& totals);

}  // namespace tacos
