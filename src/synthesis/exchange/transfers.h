// SPDX-License-Identifier: MIT
// Routines, trees and rounds of sums, written down as transfers with their times.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "synthesis/exchange/clocks.h"
#include "synthesis/exchange/moves.h"
#include "synthesis/exchange/rooted.h"
#include "synthesis/exchange/routine.h"
#include "synthesis/exchange/sums.h"

namespace tacos::exchange {

/// How a buffer is cut.
struct Parts {
  /// By participant: the number of its part, as owner of one. Of an All-to-All there is one for
  /// each pair, owner x participants + destination.
  std::span<const std::uint32_t> of;
  /// Of each part, which follow each other.
  std::int64_t chunks = 1;
};

/// Copies.
[[nodiscard]] TransferBatch transfers_of(const Moves& moves,
                                         const Costs& costs,
                                         Content content,
                                         const Routine& routine,
                                         const Parts& parts);
[[nodiscard]] TransferBatch transfers_of(const Hops& hops,
                                         Content content,
                                         const FoundTree& tree,
                                         const Parts& parts);
/// Sums of the sender's part. Where a part has fewer bytes than was counted with, it sets out
/// later.
[[nodiscard]] TransferBatch transfers_of(const Topology& topology,
                                         const Collective& collective,
                                         const Hops& hops,
                                         const FoundSums& sums,
                                         const Parts& parts);

/// Appends all of them, so much later.
void append_later(const TransferBatch& transfers, Ticks delay, TransferBatch& out);

/// When each of them ends.
[[nodiscard]] std::vector<Ticks> ends_of(const Topology& topology,
                                         const Collective& collective,
                                         const TransferBatch& transfers);

/// At the times that they have.
[[nodiscard]] Schedule as_planned(const Topology& topology,
                                  const Collective& collective,
                                  const TransferBatch& transfers);

}  // namespace tacos::exchange
