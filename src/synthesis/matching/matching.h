// SPDX-License-Identifier: MIT
// Engine `matching`: the paper's algorithm for All-Gather, Reduce-Scatter and All-Reduce.
#pragma once

#include "synthesis/engine.h"

namespace tacos {

[[nodiscard]] bool matching_handles(const Topology& topology, const Problem& problem);
[[nodiscard]] Result<Candidate> synthesize_matching(const Topology& topology,
                                                    const Problem& problem,
                                                    const SynthesisOptions& options);

}  // namespace tacos
