// SPDX-License-Identifier: MIT
// Scheduling one round of chunks so that it can be repeated: for networks where simulating every
// chunk would take too long.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/builder.h"
#include "synthesis/trees/fabric.h"
#include "synthesis/trees/lanes.h"
#include "tacos/chunk_table.h"

namespace tacos::trees {

/// Chunk `round` of a lane starts at start[lane] + round * period.
struct PeriodicPlan {
  std::int64_t period = 0;
  std::vector<std::int64_t> start;
  /// When the first round ends.
  std::int64_t round_end = 0;

  /// When the last of `num_chunks` ends, if the trees share them evenly.
  [[nodiscard]] std::int64_t end(std::uint32_t num_trees, std::uint32_t num_chunks) const {
    return (num_chunks + num_trees - 1) / num_trees * period - period + round_end;
  }
};

/// `period` must be at least what the busiest channel needs for one round.
[[nodiscard]] PeriodicPlan plan_round(const Fabric& fabric,
                                      const Lanes& lanes,
                                      const ChannelCosts& costs,
                                      std::int64_t period);

/// All rounds, in order of (start, link).
void record_rounds(const PeriodicPlan& plan,
                   const Fabric& fabric,
                   const Lanes& lanes,
                   const ChannelCosts& costs,
                   const ChunkTable& chunks,
                   ScheduleBuilder& builder);

}  // namespace tacos::trees
