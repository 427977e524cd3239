// SPDX-License-Identifier: MIT
// Spanning trees that share the channels of a network evenly and stay shallow.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/trees/fabric.h"

namespace tacos::trees {

/// For each tree an in-tree (`up`, towards the root) and an out-tree (`down`, away from it). On
/// symmetric networks the one is the other turned round.
struct Packing {
  std::uint32_t num_nodes = 0;
  std::vector<std::uint32_t> roots;
  /// up[tree * num_nodes + v]: channel from v to its parent; kNone for the root.
  std::vector<std::uint32_t> up;
  /// down[tree * num_nodes + v]: channel from its parent to v; kNone for the root.
  std::vector<std::uint32_t> down;
  /// What one chunk on every tree keeps the busiest channel busy for.
  std::int64_t period = 0;
  /// Longest way from a leaf to the root and from the root to a leaf, in picoseconds.
  std::int64_t depth = 0;

  [[nodiscard]] std::uint32_t num_trees() const { return static_cast<std::uint32_t>(roots.size()); }
};

/// NPUs ordered by how far the farthest NPU is, both ways; the first `central` are as good as any.
struct Centre {
  std::vector<std::uint32_t> nodes;
  std::uint32_t central = 0;
};
[[nodiscard]] Centre find_centre(const Fabric& fabric, std::span<const std::int64_t> arrival);

/// `num_trees` roots spread over the central NPUs.
[[nodiscard]] std::vector<std::uint32_t> spread_roots(const Centre& centre, std::uint32_t num_trees);

/// Packs one tree per root. `rounds` is how many chunks each tree will carry: what decides between
/// a shorter period and a smaller depth.
[[nodiscard]] Packing pack_trees(const Fabric& fabric,
                                 const ChannelCosts& costs,
                                 std::span<const std::uint32_t> roots,
                                 std::int64_t rounds,
                                 std::uint64_t seed);

/// No packing of `num_trees` trees has a shorter period (total capacity and single NPUs only).
class PeriodBound {
 public:
  PeriodBound(const Fabric& fabric, const ChannelCosts& costs);
  [[nodiscard]] std::int64_t operator()(std::uint32_t num_trees) const;

 private:
  /// Channels that cost the same, for counting what fits into a period.
  struct Class {
    std::int64_t busy = 0;
    std::int64_t channels = 0;
  };
  [[nodiscard]] static std::int64_t shortest(std::span<const Class> classes, std::int64_t needed);
  static std::vector<Class> classify(std::vector<std::int64_t> busy);

  std::int64_t nodes_ = 0;
  std::vector<Class> all_;
  std::vector<Class> narrowest_in_;
  std::vector<Class> narrowest_out_;
};

}  // namespace tacos::trees
