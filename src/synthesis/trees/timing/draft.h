// SPDX-License-Identifier: MIT
// A schedule that has been decided on but not written down.
#pragma once

#include <cstdint>
#include <optional>

#include "tacos/schedule.h"
#include "tacos/units.h"

#include "synthesis/trees/packing/packing.h"
#include "synthesis/trees/timing/leg_scheduler.h"
#include "synthesis/trees/timing/legs.h"
#include "synthesis/trees/timing/round_plan.h"

namespace tacos::trees {

struct Shape {
  /// How many chunks may share a transfer; 0: as many as a hop carries in the time that the
  /// slowest takes for one.
  std::uint32_t sharing = 1;
  Top top = Top::kRoot;
};

/// Which trees, and in which order links send.
struct Draft {
  std::uint32_t chunks = 0;
  Shape shape;
  Packing packing;
  /// From list scheduling: the urgencies that gave `time`. Empty: the formula did.
  std::optional<LegTable> urgency;
  /// Where it was written down at once, since there are many transfers.
  std::optional<Schedule> written;
  /// What is repeated for every round of chunks; then nothing is simulated.
  std::optional<RoundPlan> plan;
  /// From kMaxTime on: too long, and there may be no trees.
  std::int64_t time = kMaxTime.ps;
};

}  // namespace tacos::trees
