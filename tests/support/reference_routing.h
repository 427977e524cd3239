// SPDX-License-Identifier: MIT
// Shortest paths, first come first served: the naive oracle for routing.
#pragma once

#include "tacos/collective.h"
#include "tacos/topology.h"

namespace tacos::testing {

/// Collective time of an All-to-All, a Gather or a Scatter when every chunk takes its shortest path
/// and every hop starts as soon as its links are free, in the order in which chunks are there.
[[nodiscard]] Ticks reference_routing(const Topology& topology,
                                      const Collective& collective,
                                      LinkModel model);

}  // namespace tacos::testing
