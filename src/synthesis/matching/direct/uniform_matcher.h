// SPDX-License-Identifier: MIT
// Link-chunk matching at scale, where every transfer takes the same time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/parallel/team.h"
#include "base/parallel/threads.h"
#include "schedule/logs/step_log.h"
#include "synthesis/matching/direct/arrival_log.h"
#include "synthesis/matching/direct/gather_network.h"

namespace tacos::matching {

struct StepOptions {
  std::uint64_t seed = 1;
  /// Called with the share of deliveries made; may be empty.
  std::function<void(double)> progress = {};
  /// Shares out the NPUs, and keeps their logs; null: one process has them all.
  Team* team = nullptr;
  /// Where the log is kept; empty: in memory.
  std::string directory = {};
};

/// Every delivery of the All-Gather. The network must be uniform() and connect every owner to every
/// NPU.
[[nodiscard]] SharedLog match_in_steps(const GatherNetwork& network,
                                       const GatherTask& task,
                                       const StepOptions& options,
                                       ThreadPool& pool);

}  // namespace tacos::matching
