// SPDX-License-Identifier: MIT
// Engine `trees`: All-Reduce, Broadcast and Reduce over packed trees, and All-Gather and
// Reduce-Scatter where each participant can have trees of its own.
#pragma once

#include "tacos/result.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "synthesis/common/engine.h"

namespace tacos::trees {

/// All-Gather and Reduce-Scatter only of groups and of small networks without switches.
[[nodiscard]] bool handles(const Topology& topology, const Problem& problem);
/// Fails on what it does not handle, and where its hops do not join all participants.
[[nodiscard]] Result<Candidate> synthesize(const Topology& topology,
                                           const Problem& problem,
                                           const EngineOptions& options);

}  // namespace tacos::trees
