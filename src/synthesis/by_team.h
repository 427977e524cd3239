// SPDX-License-Identifier: MIT
// Synthesis by several processes.
#pragma once

#include "tacos/synthesize.h"

#include "synthesis/common/engine.h"

namespace tacos {

/// As synthesize() of the library, and where there is a team by all of its members together.
[[nodiscard]] Result<Synthesis> synthesize_by_team(const Topology& topology,
                                                   const Problem& problem,
                                                   const EngineOptions& options);

}  // namespace tacos
