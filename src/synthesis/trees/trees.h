// SPDX-License-Identifier: MIT
// Engine `trees`: All-Reduce over packed spanning trees.
#pragma once

#include "tacos/result.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "synthesis/common/engine.h"

namespace tacos::trees {

/// All-Reduce among all NPUs of a network without switches.
[[nodiscard]] bool handles(const Topology& topology, const Problem& problem);
/// Fails on other collectives, on groups, and where direct links do not join all NPUs.
[[nodiscard]] Result<Candidate> synthesize(const Topology& topology,
                                           const Problem& problem,
                                           const EngineOptions& options);

}  // namespace tacos::trees
