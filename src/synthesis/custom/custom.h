// SPDX-License-Identifier: MIT
// Schedules for custom collectives: a shortest-path tree for each chunk, over links that are not
// yet loaded.
#pragma once

#include "synthesis/engine.h"

namespace tacos {

[[nodiscard]] inline bool custom_handles(const Topology& /*topology*/, const Problem& problem) {
  return problem.custom.has_value();
}

/// For problems with a custom collective.
[[nodiscard]] Result<Candidate> synthesize_custom(const Topology& topology,
                                                  const Problem& problem,
                                                  const SynthesisOptions& options);

}  // namespace tacos
