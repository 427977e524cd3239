// SPDX-License-Identifier: MIT
// What is shown of a network: all of it, or NPU 0 with what is around it where the whole is too
// large and every NPU does the same.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/ids.h"
#include "tacos/topology.h"

namespace tacos::viewing {

struct Piece {
  Topology network;
  /// By node and link of the piece, which it is in the whole network.
  std::vector<NodeId> nodes;
  std::vector<LinkId> links;
};

/// So many NPUs at most. Of a product without switches the same number in each direction, as the
/// product of shorter lines; else those that the fewest links reach. O(links of the piece).
[[nodiscard]] Piece around_npu_0(const Topology& topology, std::uint32_t most_npus);

}  // namespace tacos::viewing
