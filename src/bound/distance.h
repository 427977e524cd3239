// SPDX-License-Identifier: MIT
// Latencies along shortest paths.
#pragma once

#include <vector>

#include "tacos/topology.h"

namespace tacos {

enum class Toward { kFrom, kTo };

/// Latency from `node` to every node, or from every node to it; kMaxTime where there is no path.
/// Breadth-first when all latencies are equal, else Dijkstra's algorithm.
[[nodiscard]] std::vector<Ticks> distances(const Topology& network, NodeId node, Toward direction);

}  // namespace tacos
