// SPDX-License-Identifier: MIT
// Tells whether symmetries leave nothing in place.
#pragma once

#include <cstdint>
#include <span>

#include "base/numbers/permutation.h"

namespace tacos::symmetric {

/// Whether of all compositions of the permutations only the identity leaves one of 0 to npus - 1
/// where it is. O(npus x log(npus) x generators).
[[nodiscard]] bool acts_freely(std::span<const Permutation> generators, std::uint32_t npus);

}  // namespace tacos::symmetric
