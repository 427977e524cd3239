// SPDX-License-Identifier: MIT
// All-Reduce: dealt out along some coordinates, summed up along the others.
#pragma once

#include <cstdint>
#include <optional>

#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "synthesis/common/engine.h"

namespace tacos::exchange {

/// Nothing when it would take `limit` or longer.
[[nodiscard]] std::optional<Candidate> all_reduce(const Topology& topology,
                                                  const Problem& problem,
                                                  const EngineOptions& options,
                                                  std::int64_t limit);

}  // namespace tacos::exchange
