// SPDX-License-Identifier: MIT
// The naive machine: every pair of transfers is a constraint, relaxed until nothing moves.
#pragma once

#include <optional>
#include <vector>

#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "replay/machine.h"

namespace tacos::testing {

/// The least starts at which every link keeps its planned order and every source holds what it was
/// planned to hold; nothing when there are none, since routes wait for each other in a circle.
[[nodiscard]] std::optional<std::vector<Ticks>> reference_starts(const replay::Setting& planned,
                                                                 const replay::Setting& actual,
                                                                 LinkModel model,
                                                                 const TransferBatch& transfers);

}  // namespace tacos::testing
