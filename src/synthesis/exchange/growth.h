// SPDX-License-Identifier: MIT
// Routines that let what everybody knows grow as fast as ports allow.
#pragma once

#include <cstdint>
#include <vector>

#include "base/numbers/rng.h"
#include "synthesis/exchange/clocks.h"
#include "synthesis/exchange/moves.h"
#include "synthesis/exchange/routine.h"

namespace tacos::exchange {

struct GrowthOptions {
  /// How many unfinished routines are kept, and the most that are made.
  std::size_t width = 8;
  /// A message is taken to have so many parts for each that it brings.
  std::uint32_t weight = 1;
  /// Whether of moves that bring equally much the first is taken, or any.
  bool in_order = false;
};

/// The moves must reach everybody. O(width x entries x moves x elements).
[[nodiscard]] std::vector<Routine> grow_routines(const Moves& moves,
                                                 const Costs& costs,
                                                 const Glance& glance,
                                                 const GrowthOptions& options,
                                                 Rng& rng);

}  // namespace tacos::exchange
