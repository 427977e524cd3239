// SPDX-License-Identifier: MIT
// Where trees have their roots: near the centre, for small depth, and not all in one place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/trees/network/fabric.h"

namespace tacos::trees {

/// Shortest ways from the nearest of `roots` (or to it, `backwards`) in picoseconds.
void distances(const Fabric& fabric,
               std::span<const std::int64_t> arrival,
               std::span<const std::uint32_t> roots,
               bool backwards,
               std::vector<std::int64_t>& distance);

/// Participants ordered by how far the farthest participant is, both ways; the first `central` are
/// as good as any. Where the job has a root, that alone.
struct Centre {
  std::vector<std::uint32_t> nodes;
  std::uint32_t central = 0;
  /// How far it is from the first to the farthest and back, or the one way that the job goes, and
  /// how far over the first hop.
  std::int64_t radius = 0;
  std::int64_t arrival = 1;
};
/// Distances are measured from so many participants at most.
[[nodiscard]] Centre find_centre(const Fabric& fabric,
                                 const Job& job,
                                 std::span<const std::int64_t> arrival,
                                 std::uint32_t most_landmarks);

/// `num_trees` roots spread over the central NPUs.
[[nodiscard]] std::vector<std::uint32_t> spread_roots(const Centre& centre,
                                                      std::uint32_t num_trees);

/// For each root the neighbour with which it is nearest to all NPUs.
[[nodiscard]] std::vector<std::uint32_t> choose_partners(const Fabric& fabric,
                                                         std::span<const std::int64_t> arrival,
                                                         std::span<const std::uint32_t> roots);

}  // namespace tacos::trees
