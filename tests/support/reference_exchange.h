// SPDX-License-Identifier: MIT
// What a routine of the engine `exchange` does, message by message and participant by participant.
#pragma once

#include <cstdint>

#include "tacos/topology.h"

#include "synthesis/exchange/moves.h"
#include "synthesis/exchange/routine.h"

namespace tacos::testing {

struct ReferenceExchange {
  /// Whether everybody gets everything that is for it.
  bool complete = false;
  /// When the last message arrives.
  std::int64_t end = 0;
};

[[nodiscard]] ReferenceExchange reference_exchange(const Topology& topology,
                                                   const exchange::Moves& moves,
                                                   exchange::Content content,
                                                   Bytes part,
                                                   LinkModel model,
                                                   const exchange::Routine& routine);

}  // namespace tacos::testing
