// SPDX-License-Identifier: MIT
// Where trees have their roots: near the centre, for small depth, and not all in one place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/trees/fabric.h"

namespace tacos::trees {

/// Shortest ways from `root` (or to it, `backwards`) in picoseconds; one chunk at a time.
void distances(const Fabric& fabric,
               std::span<const std::int64_t> arrival,
               std::uint32_t root,
               bool backwards,
               std::vector<std::int64_t>& distance);

/// NPUs ordered by how far the farthest NPU is, both ways; the first `central` are as good as any.
struct Centre {
  std::vector<std::uint32_t> nodes;
  std::uint32_t central = 0;
};
[[nodiscard]] Centre find_centre(const Fabric& fabric, std::span<const std::int64_t> arrival);

/// `num_trees` roots spread over the central NPUs.
[[nodiscard]] std::vector<std::uint32_t> spread_roots(const Centre& centre,
                                                      std::uint32_t num_trees);

}  // namespace tacos::trees
