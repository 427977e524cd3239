// SPDX-License-Identifier: MIT
// Engine `multicast`: All-Gather, Reduce-Scatter, All-Reduce, Broadcast and Reduce of a group of
// NPUs among others, which relay.
#pragma once

#include "synthesis/common/engine.h"

namespace tacos::multicast {

[[nodiscard]] bool handles(const Topology& topology, const Problem& problem);
[[nodiscard]] Result<Candidate> synthesize(const Topology& topology,
                                           const Problem& problem,
                                           const EngineOptions& options);

}  // namespace tacos::multicast
