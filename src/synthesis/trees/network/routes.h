// SPDX-License-Identifier: MIT
// The ways from NPU to NPU that trees are made of: links, and routes through switches.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/ids.h"
#include "tacos/topology.h"

namespace tacos::trees {

/// No hop, node, tree or leg.
inline constexpr std::uint32_t kNone = 0xffffffffU;

struct Route {
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  std::vector<LinkId> links;
  /// The same way back; kNone unless every link has a twin.
  std::uint32_t twin = kNone;
};

/// By first link. Through switches the fewest links, those that share a way evenly used, and from
/// each port to 64 NPUs at most, near ones and far ones: a switch of n ports costs O(n), not n^2.
[[nodiscard]] std::vector<Route> find_routes(const Topology& topology,
                                             const std::vector<LinkId>& twins);

}  // namespace tacos::trees
