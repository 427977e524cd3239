// SPDX-License-Identifier: MIT
// From a schedule to a program.
#pragma once

#include "tacos/collective.h"
#include "tacos/program.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos {

struct LowerOptions {
  /// Whether input and output are the same memory; not every collective can be.
  bool in_place = false;
};

/// What each NPU does to make the schedule. The order on links that leave an NPU is kept; steps
/// wait for exactly what their data need, and for nothing else.
[[nodiscard]] Result<Program> lower(const Topology& topology,
                                    const Collective& collective,
                                    const Schedule& schedule,
                                    const LowerOptions& options = {});

}  // namespace tacos
