// SPDX-License-Identifier: MIT
// Bounds for collectives from a file, whose chunks have sources and destinations of their own.
#pragma once

#include <optional>
#include <utility>

#include "tacos/bound.h"
#include "tacos/collective.h"
#include "tacos/topology.h"

namespace tacos {

/// The best cut around a single NPU or around what fast links join, then with latency.
[[nodiscard]] BoundReport bound_custom(const Topology& topology, const Collective& collective);

/// (from, to): a destination that no source (of a copy) or not every source (of a sum) reaches.
[[nodiscard]] std::optional<std::pair<NodeId, NodeId>> find_unreachable_custom(
    const Topology& topology, const Collective& collective);

}  // namespace tacos
