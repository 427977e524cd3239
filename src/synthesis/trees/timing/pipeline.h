// SPDX-License-Identifier: MIT
// Drafts written down transfer by transfer.
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
/// The place in the order of chunks, less `tail_weight` times the way that still lies ahead.
[[nodiscard]] Urgency by_formula(const Legs& legs,
                                 const HopCosts& costs,
                                 const Packing& packing,
                                 std::int64_t tail_weight = 2);

/// Everything that a draft is a draft for.
struct PipelineTask {
  const Topology& topology;
  const Fabric& fabric;
  const Job& job;
  Bytes size;
  LinkModel model = LinkModel::kHold;
};

/// What simulating legs tells beside the schedule, and when it may end: see schedule_legs.
struct Listing {
  LegTable* ends = nullptr;
  std::int64_t limit = kMaxTime.ps;
  std::int64_t time = 0;
};

/// Schedules legs and writes down every transfer, in blocks.
[[nodiscard]] Schedule list_legs(const PipelineTask& task,
                                 const LegProblem& problem,
                                 const Urgency& urgency,
                                 Listing& listing);
/// The same for a draft.
[[nodiscard]] Schedule listed(const PipelineTask& task, const Draft& draft);

}  // namespace tacos::trees
