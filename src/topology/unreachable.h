// SPDX-License-Identifier: MIT
// The error for a pair that no path joins.
#pragma once

#include <utility>

#include "tacos/error.h"
#include "tacos/topology.h"

namespace tacos {

/// (from, to).
[[nodiscard]] Error unreachable_error(const Topology& topology, std::pair<NodeId, NodeId> pair);

}  // namespace tacos
