// SPDX-License-Identifier: MIT
// A listed schedule takes 4 to 5 bytes a transfer.
#include "synthesis/trees/timing/pipeline.h"

#include <algorithm>
#include <utility>

#include "base/numbers/wide.h"
#include "schedule/builder.h"

namespace tacos::trees {
TransferSharing sharing_of(const Fabric& fabric, const HopCosts& costs, std::uint32_t sharing) {
  constexpr std::int64_t kMostTogether = 8;
  if (sharing == 1) {
    return {};
  }
  // 0 lets faster hops carry as many as they can in the time of the slowest.
  std::int64_t slowest = costs.bandwidth(0);
  for (std::uint32_t hop = 0; hop < fabric.num_hops(); ++hop) {
    slowest = std::min(slowest, costs.bandwidth(hop));
  }
  TransferSharing result;
  for (std::uint32_t hop = 0; hop < fabric.num_hops(); ++hop) {
    const std::int64_t limit = sharing == 0 ? costs.bandwidth(hop) / slowest : sharing;
    result.limit.push_back(static_cast<std::uint32_t>(std::min(kMostTogether, limit)));
  }
  return result;
}

Urgency by_formula(const Legs& legs,
                   const HopCosts& costs,
                   const Packing& packing,
                   std::int64_t tail_weight) {
  Urgency urgency{.base = legs.tails(costs), .step = packing.period, .table = nullptr};
  for (std::uint32_t leg = 0; leg < legs.num_legs(); ++leg) {
    const auto begin =
        static_cast<std::int64_t>(Int128{packing.period} * legs.tree(leg) / legs.num_trees());
    urgency.base[leg] = begin - tail_weight * urgency.base[leg];
  }
  return urgency;
}

Schedule list_legs(const PipelineTask& task,
                   const LegProblem& problem,
                   const Urgency& urgency,
                   Listing& listing) {
  const ChunkTable chunks(task.size, problem.num_chunks);
  ScheduleBuilder builder(task.topology.num_links());
  listing.time = schedule_legs(
      problem,
      urgency,
      {.ends = listing.ends,
       .record = [&builder](const Transfer& transfer, Ticks end) { builder.append(transfer, end); },
       .topology = &task.topology,
       .chunks = &chunks},
      listing.limit);
  return std::move(builder).build();
}

Schedule listed(const PipelineTask& task, const Draft& draft) {
  const Bytes bytes = ChunkTable(task.size, draft.chunks).max_bytes();
  const HopCosts costs(task.topology, task.fabric, bytes, task.model);
  const Legs legs(task.fabric, draft.packing, draft.shape.top, false);
  const TransferSharing sharing = sharing_of(task.fabric, costs, draft.shape.sharing);
  Listing all;
  return list_legs(task,
                   {task.fabric, legs, costs, sharing, draft.chunks, task.job.unit()},
                   draft.urgency ? Urgency{.base = {}, .step = 0, .table = &*draft.urgency}
                                 : by_formula(legs, costs, draft.packing),
                   all);
}

}  // namespace tacos::trees
