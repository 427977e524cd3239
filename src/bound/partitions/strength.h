// SPDX-License-Identifier: MIT
// The strength of a weighted graph: the partition with the least weight across it per part beyond
// the first.
#pragma once

#include <cstdint>
#include <vector>

namespace tacos {

struct WeightedEdge {
  std::uint32_t u;
  std::uint32_t v;
  std::int64_t weight;
};

struct Strength {
  /// Part of each node, numbered from 0.
  std::vector<std::uint32_t> part;
  /// The ratio (weight across) / (parts - 1) of that partition.
  std::int64_t across = 0;
  std::int64_t parts_less_one = 0;
  /// No partition has a ratio below (1 - 1/slack) times that; 0: none has a smaller one. 1: it took
  /// too long to say.
  std::int64_t slack = 0;
};

enum class StrengthGoal {
  kExact,
  kWithinOnePercent,  ///< up to ten times faster for 40,000 nodes
};

/// Of a connected graph of two nodes or more. Twice the total weight times the number of nodes
/// times 100 must be below 2^62. `first_guess` is any partition into two parts or more.
[[nodiscard]] Strength graph_strength(std::uint32_t num_nodes,
                                      const std::vector<WeightedEdge>& edges,
                                      const std::vector<std::uint32_t>& first_guess,
                                      StrengthGoal goal);

}  // namespace tacos
