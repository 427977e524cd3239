// SPDX-License-Identifier: MIT
// Small messages through switches: parts for different participants share messages past relays.
#pragma once

#include "tacos/result.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "synthesis/common/engine.h"

namespace tacos::exchange {

[[nodiscard]] bool handles(const Topology& topology, const Problem& problem);

[[nodiscard]] Result<Candidate> synthesize(const Topology& topology,
                                           const Problem& problem,
                                           const EngineOptions& options);

}  // namespace tacos::exchange
