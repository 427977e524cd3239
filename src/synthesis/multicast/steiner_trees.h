// SPDX-License-Identifier: MIT
// Trees from NPUs to all of a group, over anybody, such that no link has much more to do than it
// must.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"

#include "synthesis/common/path_balance.h"

namespace tacos::multicast {

/// A tree is a list of branches: paths of links, each from the root or from an NPU on a branch
/// before it to a participant of the group.
struct SteinerTrees {
  Paths branches;
  /// Of each tree, plus an end.
  std::vector<std::uint32_t> first{0};
};

struct SteinerOptions {
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  /// How often every tree is reconsidered, at most; 0 gives shortest paths joined.
  std::uint32_t sweeps = 0;
  /// A branch that begins a unit of time away from the root costs 2^depth_bits more; a full link
  /// costs 2^26 for each. The more, the shallower the trees, and the more links they take.
  std::uint32_t depth_bits = 0;
  /// Of each link the one that goes back, when trees are used both ways; may be empty.
  std::span<const LinkId> twins = {};
};

/// `trees_per_root` trees for each root, one root after the other. The roots are participants of
/// the group, and reach all others.
[[nodiscard]] SteinerTrees pack_steiner_trees(const Topology& topology,
                                              std::span<const NodeId> group,
                                              std::span<const NodeId> roots,
                                              std::uint32_t trees_per_root,
                                              Bytes chunk_bytes,
                                              const SteinerOptions& options);

}  // namespace tacos::multicast
