// SPDX-License-Identifier: MIT
// How much work an effort stands for.
#pragma once

#include <array>
#include <cstdint>

#include "tacos/synthesize.h"

namespace tacos {

/// What a search may cost at this effort if it may cost `budget` at the default one: each step up
/// doubles it, the steps down to the first good schedule are larger.
[[nodiscard]] constexpr std::int64_t at_effort(std::int64_t budget, int effort) {
  constexpr std::array<std::int64_t, kMostEffort> kSixtyFourths{
      1, 4, 16, 32, 64, 128, 256, 512, 1024};
  return budget / 64 * kSixtyFourths[static_cast<std::size_t>(effort - kLeastEffort)];
}

}  // namespace tacos
