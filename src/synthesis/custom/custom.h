// SPDX-License-Identifier: MIT
// Schedules for custom collectives: a shortest-path tree for each chunk, over links that are not
// yet loaded.
#pragma once

#include "synthesis/common/engine.h"

namespace tacos::custom {

[[nodiscard]] inline bool handles(const Topology& /*topology*/, const Problem& problem) {
  return problem.custom.has_value();
}

/// For problems with a custom collective.
[[nodiscard]] Result<Candidate> synthesize(const Topology& topology,
                                           const Problem& problem,
                                           const EngineOptions& options);

}  // namespace tacos::custom
