// SPDX-License-Identifier: MIT
// The symmetries of a network.
#pragma once

#include <span>
#include <vector>

#include "tacos/topology.h"

#include "base/numbers/permutation.h"

namespace tacos {

/// What symmetries must leave as it is.
enum class Keep {
  kEach,  ///< each permutation: it is the same whether the symmetry comes before or after it
  kAll,   ///< all together: each may become another one when seen through the symmetry
};

/// A few ways to permute the nodes after which the links, with what they cost, are the same. All
/// that there are, but for those that only swap switches with the same neighbours, are compositions
/// of them. With `kept`, permutations of at least the NPUs, only symmetries are made that keep
/// those.
///
/// Usually not much slower than reading the links and what is kept; there are networks that nobody
/// can do quickly.
[[nodiscard]] std::vector<Permutation> automorphisms(const Topology& topology,
                                                     std::span<const Permutation> kept = {},
                                                     Keep how = Keep::kEach);

/// Where a permutation of the nodes that is a symmetry takes the links. Parallel links of equal
/// cost keep their order.
[[nodiscard]] Permutation link_permutation(const Topology& topology, const Permutation& nodes);

/// The symmetry that moves every NPU to the next one that has the same neighbours, round and round;
/// the identity when NPU 0 shares its neighbours with nobody.
[[nodiscard]] Permutation twin_rotation(const Topology& topology);

}  // namespace tacos
