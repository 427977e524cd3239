// SPDX-License-Identifier: MIT
// Engine `routing`: All-to-All, Gather and Scatter, where each chunk has one source and one
// destination.
#pragma once

#include "synthesis/engine.h"

namespace tacos {

[[nodiscard]] bool routing_handles(const Topology& topology, const Problem& problem);
[[nodiscard]] Result<Candidate> synthesize_routing(const Topology& topology,
                                                   const Problem& problem,
                                                   const SynthesisOptions& options);

}  // namespace tacos
