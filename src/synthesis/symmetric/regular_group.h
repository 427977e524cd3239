// SPDX-License-Identifier: MIT
// Finds symmetries that make a network look the same from every NPU, one for each.
#pragma once

#include <vector>

#include "tacos/topology.h"

#include "base/numbers/permutation.h"

namespace tacos::symmetric {

/// Whether it is worth to look for symmetries: not too large, no links between switches, and at
/// every NPU as many links of each kind. O(links).
[[nodiscard]] bool looks_alike_everywhere(const Topology& topology);

/// Generators, as permutations of the nodes, of a group of symmetries in which exactly one takes
/// NPU 0 to each NPU; none when none was found. The work is bounded but for that of
/// automorphisms(), and equal networks give equal groups. Of a network that looks_alike_everywhere.
[[nodiscard]] std::vector<Permutation> find_regular_group(const Topology& topology);

}  // namespace tacos::symmetric
