// SPDX-License-Identifier: MIT
// Which links a certificate speaks of.
#pragma once

#include <vector>

#include "tacos/bound.h"
#include "tacos/topology.h"

namespace tacos {

/// By link, how much it counts in a certificate: its bandwidth, times its length or how many parts
/// it leads into; 0 for those that are not in it. O(links), of a partition O(links log NPUs).
[[nodiscard]] std::vector<double> limiting_weights(const Topology& topology,
                                                   const Certificate& certificate);

}  // namespace tacos
