// SPDX-License-Identifier: MIT
// Whether data can get where it must: a pair of NPUs that says no.
#pragma once

#include <optional>
#include <span>
#include <utility>

#include "tacos/topology.h"

namespace tacos {

/// A pair (from, to) of participants without a path, or nothing when all reach all. O(links).
[[nodiscard]] std::optional<std::pair<NodeId, NodeId>> find_unreachable(
    const Topology& topology, std::span<const NodeId> participants);

}  // namespace tacos
