// SPDX-License-Identifier: MIT
// Which NPUs are in one box, where a runtime reaches a peer's memory inside one only.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/topology.h"

namespace tacos::exporting {

/// By NPU the number of its box. Names of NPUs say it where all have a box in front, as in
/// `box1/gpu3`; else the name of the network where that is a machine, as in `a100:2`; else all NPUs
/// are in one.
[[nodiscard]] std::vector<std::uint32_t> boxes_of(const Topology& topology);

}  // namespace tacos::exporting
