// SPDX-License-Identifier: MIT
// The trees that exchanges begin with.
#pragma once

#include <cstdint>

#include "synthesis/trees/packing/forest.h"

namespace tacos::trees {

/// Shortest ways from the roots.
void plant(Forest& forest, std::uint64_t seed);
/// Trees one after the other, each within its part of `budget` where that is possible.
void grow(Forest& forest, std::uint64_t seed, std::int64_t budget);

}  // namespace tacos::trees
