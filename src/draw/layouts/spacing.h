// SPDX-License-Identifier: MIT
// What tidies up a layout of any network.
#pragma once

#include <cstdint>
#include <vector>

#include "base/csr.h"
#include "draw/layout.h"

namespace tacos::draw {

/// What takes `a` to the wanted distance from `b`.
[[nodiscard]] Place correction(Place a, Place b, double wanted);

/// Stretches the whole until most nodes have room around them, lets those that are still too near
/// push each other away, and turns it so that links are upright or level where many can be, or else
/// its longer side is. O(nodes + links).
void make_room(const Csr<std::uint32_t>& neighbours, std::vector<Place>& places);

}  // namespace tacos::draw
