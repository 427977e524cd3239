// SPDX-License-Identifier: MIT
// Looks for a routine that takes little time.
#pragma once

#include <cstdint>
#include <optional>

#include "synthesis/exchange/clocks.h"
#include "synthesis/exchange/moves.h"
#include "synthesis/exchange/routine.h"

namespace tacos::exchange {

struct FoundPlan {
  Routine routine;
  /// Exact.
  RoutineTime time;
  /// Whether it takes as long as one participant sees: then all are alike, and each link takes
  /// messages in the best order.
  bool alike = false;
};

/// Nothing when it would take `limit` or longer, even if links decided anew what goes first, or
/// when there are too many ways to go. The work is bounded, whatever the network.
[[nodiscard]] std::optional<FoundPlan> find_plan(const Moves& moves,
                                                 const Costs& costs,
                                                 Content content,
                                                 std::int64_t limit,
                                                 std::uint64_t seed);

}  // namespace tacos::exchange
