// SPDX-License-Identifier: MIT
// Failures taken back: what --restore says, read and applied.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tacos/result.h"
#include "tacos/topology.h"

namespace tacos {

struct RestoredTopology {
  Topology topology;
  /// Increasing; those that had failed as a whole and work again.
  std::vector<NodeId> restored_npus;
};

/// Takes `link:3-4`, `link:3>4`, `npu:5` or `slow:3-4` back, which the network must have. An NPU
/// gets the links back to nodes that work, but for those that its name says failed by themselves. A
/// slow link is as fast as the spec says that the name of the network begins with. The name says
/// what is left. O(links) for each.
[[nodiscard]] Result<RestoredTopology> take_back(Topology topology,
                                                 std::span<const std::string> failures);

/// Whether the node has links and all of them have failed. O(links) when none works.
[[nodiscard]] bool has_failed(const Topology& topology, NodeId node);

}  // namespace tacos
