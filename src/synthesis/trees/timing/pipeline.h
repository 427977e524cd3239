// SPDX-License-Identifier: MIT
// Drafts written down, transfer by transfer, or kept as what they are: trees and a rule.
#pragma once

#include <cstdint>

#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/network/job.h"
#include "synthesis/trees/timing/draft.h"
#include "synthesis/trees/timing/leg_scheduler.h"

namespace tacos::trees {

/// How many chunks may share a transfer on each hop (Shape::sharing).
[[nodiscard]] TransferSharing sharing_of(const Fabric& fabric,
                                         const HopCosts& costs,
                                         std::uint32_t sharing);
/// The place in the order of chunks, less twice the way that still lies ahead.
[[nodiscard]] Urgency by_formula(const Legs& legs, const HopCosts& costs, const Packing& packing);

/// Everything that a draft is a draft for.
struct PipelineTask {
  const Topology& topology;
  const Fabric& fabric;
  const Job& job;
  Bytes size;
  LinkModel model = LinkModel::kHold;
};

/// Every transfer, in blocks.
[[nodiscard]] Schedule listed(const PipelineTask& task, const Draft& draft);
/// The same schedule as trees with a pipeline: it is simulated anew whenever it is read, in memory
/// for the trees alone, whatever the number of chunks.
[[nodiscard]] Schedule unlisted(const PipelineTask& task, Draft draft);

}  // namespace tacos::trees
