// SPDX-License-Identifier: MIT
// A sum that everybody gets, in rounds: those who differ in one digit of their numbers tell each
// other what they have summed up so far.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "synthesis/exchange/costs.h"
#include "synthesis/exchange/hops.h"
#include "synthesis/exchange/layout.h"

namespace tacos::exchange {

/// What the sender has summed up when the message sets out is added at the other end.
struct SumMessage {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t hop = 0;
  /// When it arrives: at the same time as all that the other gets in this round.
  std::int64_t end = 0;
};

struct FoundSums {
  std::vector<SumMessage> messages;
  std::int64_t end = 0;
};

/// Of all who differ in the coordinates from `first_axis` on, each of whom sends one part. The best
/// of all radices and orders of coordinates; nothing when ports are too few for any, or when it
/// would take `limit` or longer. O(orders x elements x rounds x radix).
[[nodiscard]] std::optional<FoundSums> find_sums(const Hops& hops,
                                                 const Layout& layout,
                                                 const Costs& costs,
                                                 std::size_t first_axis,
                                                 std::int64_t limit);

}  // namespace tacos::exchange
