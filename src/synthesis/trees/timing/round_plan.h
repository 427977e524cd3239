// SPDX-License-Identifier: MIT
// One chunk on every tree, in times that can be repeated every period.
#pragma once

#include <cstdint>
#include <vector>

#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/network/job.h"
#include "synthesis/trees/packing/packing.h"

namespace tacos::trees {

/// How slots are given away.
struct PlanRule {
  /// What the way that lies ahead counts against the way behind, in halves.
  std::int64_t ahead = 4;
  /// Whether a transfer may get the slot of another that can wait better.
  bool trades = true;
  /// How many chunks may share a transfer.
  std::uint32_t sharing = 1;
};

/// When the transfers of a round start, the first of them at 0.
struct RoundPlan {
  std::int64_t period = 0;
  /// Until the last has arrived.
  std::int64_t span = 0;
  /// By tree and node, as in the packing: from a node towards the root, and away from it to a node.
  /// Where the packing has no hop, any number.
  std::vector<std::int64_t> up;
  std::vector<std::int64_t> down;
};

/// On direct links and for tops that are roots. The period is that of the packing, or longer. The
/// best of one plan and `repeats` that learn from those before.
[[nodiscard]] RoundPlan plan_round(const Fabric& fabric,
                                   const HopCosts& costs,
                                   const Job& job,
                                   const Packing& packing,
                                   const PlanRule& rule,
                                   std::uint32_t repeats = 0);

}  // namespace tacos::trees
