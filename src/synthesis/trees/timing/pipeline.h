// SPDX-License-Identifier: MIT
// Plans written down, transfer by transfer, or kept as what they are: trees and a rule.
#pragma once

#include <cstdint>

#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "synthesis/trees/fabric.h"
#include "synthesis/trees/job.h"
#include "synthesis/trees/list_schedule.h"
#include "synthesis/trees/plan.h"

namespace tacos::trees {

/// How many chunks may share a transfer on each channel (Shape::group).
[[nodiscard]] Grouping grouping(const Fabric& fabric,
                                const ChannelCosts& costs,
                                std::uint32_t group);
/// The place in the order of chunks, less twice the way that still lies ahead.
[[nodiscard]] Urgency by_formula(const Lanes& lanes,
                                 const ChannelCosts& costs,
                                 const Packing& packing);

/// Everything that a plan is a plan for.
struct PipelineTask {
  const Topology& topology;
  const Fabric& fabric;
  const Job& job;
  Bytes size;
  LinkModel model = LinkModel::kHold;
};

/// Every transfer, in blocks.
[[nodiscard]] Schedule listed(const PipelineTask& task, const Plan& plan);
/// The same schedule as trees with a pipeline: it is simulated anew whenever it is read, in memory
/// for the trees alone, whatever the number of chunks.
[[nodiscard]] Schedule unlisted(const PipelineTask& task, Plan plan);

}  // namespace tacos::trees
