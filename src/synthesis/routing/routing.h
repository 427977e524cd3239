// SPDX-License-Identifier: MIT
// Engine `routing`: All-to-All, Gather and Scatter, where each chunk has one source and one
// destination.
#pragma once

#include "synthesis/common/engine.h"

namespace tacos::routing {

[[nodiscard]] bool handles(const Topology& topology, const Problem& problem);
[[nodiscard]] Result<Candidate> synthesize(const Topology& topology,
                                           const Problem& problem,
                                           const EngineOptions& options);

}  // namespace tacos::routing
