// SPDX-License-Identifier: MIT
// Random networks for property tests: heterogeneous, directed, with parallel links.
#pragma once

#include <cstdint>

#include "tacos/topology.h"

#include "base/numbers/rng.h"

namespace tacos::testing {

struct NetworkShape {
  std::uint32_t max_npus = 12;
  /// Whether links may lack a twin in the other direction.
  bool directed = true;
  /// Whether every NPU is sure to reach every other.
  bool connected = true;
  bool heterogeneous = true;
};

/// Equal numbers give equal networks. One in four has gaps, of a half or all of the latency at
/// most.
[[nodiscard]] Topology random_network(std::uint64_t number, const NetworkShape& shape = {});

/// NPUs on one to four switches that are joined in a line, so that routes go through several, plus
/// random links between any nodes; unequal links, gaps as above, every NPU reaches every other.
[[nodiscard]] Topology random_switched_network(std::uint64_t number, std::uint32_t max_npus = 12);

}  // namespace tacos::testing
