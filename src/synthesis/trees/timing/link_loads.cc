// SPDX-License-Identifier: MIT
// O(trees * NPUs).
#include "synthesis/trees/timing/link_loads.h"

#include <algorithm>

namespace tacos::trees {

std::vector<LinkLoad> link_loads(const Fabric& fabric, const Packing& packing) {
  std::vector<LinkLoad> loads(fabric.num_links());
  for (const std::uint32_t hop : packing.down) {
    if (hop != kNone) {
      ++loads[fabric.links(hop).front().index()].down;
    }
  }
  for (const std::uint32_t hop : packing.up) {
    if (hop != kNone) {
      ++loads[fabric.links(hop).front().index()].up;
    }
  }
  return loads;
}

std::int64_t round_period(const Fabric& fabric,
                          const HopCosts& costs,
                          const std::vector<LinkLoad>& loads,
                          std::uint32_t sharing) {
  std::int64_t longest = 0;
  for (std::uint32_t hop = 0; hop < fabric.num_hops(); ++hop) {
    const std::uint32_t link = fabric.links(hop).front().value();
    const LinkLoad& load = loads[link];
    longest = std::max(longest, busy_for(load, sharing, [&](std::uint32_t chunks) {
                         return chunks == 1 ? costs.busy(link) : costs.free_after(hop, 0, chunks);
                       }));
  }
  return longest;
}

}  // namespace tacos::trees
