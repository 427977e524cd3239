// SPDX-License-Identifier: MIT
// When even the best matching must take this long: the whole-chunk ingress bound, on the grid.
#pragma once

#include <cstdint>
#include <span>

#include "synthesis/matching/direct/gather_network.h"

namespace tacos::matching {

/// No All-Gather of `num_chunks` chunks, an equal part of which starts at each owner, ends
/// earlier: into each NPU, the links together must bring the rest, one whole chunk at a time.
/// O(links log time).
[[nodiscard]] GridTime gather_bound(const GatherNetwork& network,
                                    std::uint32_t num_chunks,
                                    std::span<const NodeId> owners);

}  // namespace tacos::matching
