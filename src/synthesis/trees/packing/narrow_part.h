// SPDX-License-Identifier: MIT
// A few NPUs side by side whose links have little room for trees.
//
// A spanning tree has an edge for each of some NPUs among the links that touch them, wherever else
// it goes: by Nash-Williams, with those NPUs as parts and all others as one more. Single NPUs and
// the whole network are known to every bound; in between, a corner of a mesh that has lost a cable
// is what decides. In a mesh of 16x32 without the cable between (1,0) and (2,0), three cables touch
// (0,0) and (1,0): two trees out of three go over each, where the whole network would allow for one
// out of two.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"

namespace tacos::trees {

struct NarrowPart {
  std::int64_t npus = 0;
  /// That touch one of them, each once; nothing where there is no such part.
  std::vector<LinkId> links = {};
};

/// Grows parts of up to 12 NPUs from those on that are narrower than most, always by the NPU that
/// adds least, and keeps the one with the least capacity for each of its NPUs; nothing where all
/// are alike. Over direct links, of which `capacity` says what each has. O(NPUs + narrow ones x
/// 12^2 x degree).
[[nodiscard]] NarrowPart narrowest_part(const Topology& topology,
                                        std::span<const std::int64_t> capacity);

}  // namespace tacos::trees
