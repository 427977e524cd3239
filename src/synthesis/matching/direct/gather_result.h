// SPDX-License-Identifier: MIT
// What the matchers of direct links make, and the schedules that it stands for.
#pragma once

#include <optional>

#include "tacos/schedule.h"

#include "base/parallel/threads.h"
#include "schedule/logs/window_log.h"
#include "synthesis/common/delivery_buffer.h"

namespace tacos::matching {

/// An All-Gather: blocks or a log.
struct GatherResult {
  std::optional<Schedule> schedule;
  SharedLog log;
  /// How long a unit of the log's time is.
  Ticks unit;
  /// When the last transfer would end if all chunks were the largest.
  Ticks planned_end;
};

/// As it is.
[[nodiscard]] Schedule all_gather_schedule(const GatherResult& gathered,
                                           const ArrivalClock& clock,
                                           ThreadPool& pool);

/// One against the links, run backwards.
[[nodiscard]] Schedule reduce_scatter_schedule(const GatherResult& scattered,
                                               const ArrivalClock& clock,
                                               ThreadPool& pool);

/// One after the other.
[[nodiscard]] Schedule all_reduce_schedule(const GatherResult& scattered,
                                           const GatherResult& gathered,
                                           const ArrivalClock& clock,
                                           ThreadPool& pool);

}  // namespace tacos::matching
