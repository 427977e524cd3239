// SPDX-License-Identifier: MIT
// Spanning trees that share the hops of a network evenly and stay shallow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/numbers/wide.h"
#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/network/job.h"

namespace tacos::trees {

/// Who completes the sum of a tree.
enum class Top {
  kRoot,     ///< the root
  kMeeting,  ///< the root and its partner, each for its side, after exchanging what they have
};

/// For each tree an in-tree (`up`, towards the root) and an out-tree (`down`, away from it), or
/// only one of them, as the job says. On symmetric networks the one is the other turned round.
struct Packing {
  std::uint32_t num_nodes = 0;
  std::vector<std::uint32_t> roots;
  /// up[tree * num_nodes + v]: hop from v to its parent; kNone for the root, and for an NPU
  /// that is not in the tree.
  std::vector<std::uint32_t> up;
  /// down[tree * num_nodes + v]: hop from its parent to v; kNone for the root.
  std::vector<std::uint32_t> down;
  /// Where sums are completed by a meeting: for each root the neighbour that it meets.
  std::vector<std::uint32_t> partners;
  /// What one chunk on every tree keeps the busiest link busy for.
  std::int64_t period = 0;
  /// Longest way from a leaf to the root and from the root to a leaf, in picoseconds.
  std::int64_t depth = 0;

  [[nodiscard]] std::uint32_t num_trees() const { return static_cast<std::uint32_t>(roots.size()); }
};

/// One tree per root.
struct PackingTask {
  const Fabric& fabric;
  const HopCosts& costs;
  const Job& job;
  std::span<const std::uint32_t> roots;
  /// Neighbours of the roots that are at the top of their trees like them, or nothing.
  std::span<const std::uint32_t> partners;
  /// How many chunks each tree will carry: decides between a shorter period and a smaller depth.
  std::int64_t rounds = 1;
  /// No packing can have a shorter period; 0 when nothing is known.
  std::int64_t least_period = 0;
  /// Whether to try trees that avoid loaded links from the beginning.
  bool grow = false;
  std::uint64_t seed = 1;
};
/// `work` is what exchanges may still cost, and becomes less: trees are then as they were planted
/// or grown.
[[nodiscard]] Packing pack_trees(const PackingTask& task, std::int64_t& work);

/// Period and depth are those of the costs that the packing was made for; these are of others.
[[nodiscard]] std::int64_t period_of(const Fabric& fabric,
                                     const Packing& packing,
                                     const HopCosts& costs);
[[nodiscard]] Int128 depth_of(const Fabric& fabric, const Packing& packing, const HopCosts& costs);

}  // namespace tacos::trees
