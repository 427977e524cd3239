// SPDX-License-Identifier: MIT
// Networks told apart by a number.
#pragma once

#include <cstdint>

#include "tacos/topology.h"

namespace tacos {

/// Of equal networks the same: links, what they cost, which of them failed; names do not count.
[[nodiscard]] std::uint64_t network_hash(const Topology& topology);

}  // namespace tacos
