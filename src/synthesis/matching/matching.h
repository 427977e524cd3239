// SPDX-License-Identifier: MIT
// Engine `matching`: the paper's algorithm for All-Gather, Reduce-Scatter and All-Reduce.
#pragma once

#include "synthesis/common/engine.h"

namespace tacos::matching {

[[nodiscard]] bool handles(const Topology& topology, const Problem& problem);
[[nodiscard]] Result<Candidate> synthesize(const Topology& topology,
                                           const Problem& problem,
                                           const EngineOptions& options);

}  // namespace tacos::matching
