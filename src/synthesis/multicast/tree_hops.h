// SPDX-License-Identifier: MIT
// Chunks that go down trees, as messages with hops, and which hop should go first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "replay/route_table.h"
#include "synthesis/multicast/steiner_trees.h"

namespace tacos::multicast {

/// A message is a chunk on one branch of its tree; it waits until the chunk is where the branch
/// begins.
struct TreeMessages {
  replay::Itineraries itineraries;
  /// Of each message.
  std::vector<std::uint32_t> chunk;
  /// Of each message.
  std::vector<Op> op;
};

/// Chunk i of root r, numbered r * chunks_per_root + i, takes the tree of r that is its turn.
[[nodiscard]] TreeMessages make_tree_messages(const Topology& topology,
                                              const SteinerTrees& trees,
                                              std::uint32_t trees_per_root,
                                              std::uint32_t chunks_per_root,
                                              replay::RouteTable& routes);

/// The same for an All-Reduce: up the tree first, each NPU when all below it have been added, then
/// down.
[[nodiscard]] TreeMessages make_all_reduce_messages(const Topology& topology,
                                                    const SteinerTrees& trees,
                                                    std::uint32_t trees_per_root,
                                                    std::uint32_t chunks_per_root,
                                                    std::span<const LinkId> twins,
                                                    replay::RouteTable& routes);

/// Which hop goes first where several wait.
enum class TreeOrder {
  kDeepest,  ///< the one with the longest way below it
  kPaced,    ///< the same, each chunk as much later than the one before as the fullest link needs
  kInTurn,   ///< that of the earlier chunk of its root, then the deepest
};

/// Ranks for ListOptions.
[[nodiscard]] std::vector<std::int64_t> tree_ranks(const Topology& topology,
                                                   const TreeMessages& messages,
                                                   std::uint32_t chunks_per_root,
                                                   const replay::RouteTable& routes,
                                                   Bytes chunk_bytes,
                                                   TreeOrder order);

}  // namespace tacos::multicast
