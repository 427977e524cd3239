// SPDX-License-Identifier: MIT
// Engine `symmetric`: All-Gather, Reduce-Scatter and All-Reduce as one pattern and its
// translations.
#pragma once

#include "synthesis/common/engine.h"

namespace tacos::symmetric {

/// Whether all NPUs take part in a collective that the engine knows, on a network that is known to
/// be a product of rings, fully-connected and switch dimensions, or on a small one on which all
/// NPUs have equal links. O(links).
[[nodiscard]] bool handles(const Topology& topology, const Problem& problem);

/// Fails when no symmetries are found that take each NPU to each other one.
[[nodiscard]] Result<Candidate> synthesize(const Topology& topology,
                                           const Problem& problem,
                                           const EngineOptions& options);

}  // namespace tacos::symmetric
