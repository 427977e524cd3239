// SPDX-License-Identifier: MIT
// Engine `matching`: the paper's algorithm, for everything that goes to everybody or comes from
// everybody.
#pragma once

#include "synthesis/common/engine.h"

namespace tacos::matching {

[[nodiscard]] bool handles(const Topology& topology, const Problem& problem);
[[nodiscard]] Result<Candidate> synthesize(const Topology& topology,
                                           const Problem& problem,
                                           const EngineOptions& options);

}  // namespace tacos::matching
