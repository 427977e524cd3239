// SPDX-License-Identifier: MIT
// Replays a schedule transfer by transfer, and says in words whatever is wrong with it.
#pragma once

#include <cstdint>

#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"
#include "tacos/units.h"
#include "tacos/verify.h"

#include "verify/violations.h"
#include "verify/wire_table.h"

namespace tacos {

/// What was counted while replaying.
struct Counts {
  std::uint64_t transfers = 0;
  std::uint64_t moves = 0;
  Ticks latest;
};

/// On one thread; with more than one in the options, another reads ahead.
[[nodiscard]] Result<Counts> replay_in_order(const WireTable& table,
                                             const Collective& collective,
                                             const Schedule& schedule,
                                             const VerifyOptions& options,
                                             Violations& violations);

}  // namespace tacos
