// SPDX-License-Identifier: MIT
// Link-chunk matching at scale: every link takes what its source has had longest.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/parallel/team.h"
#include "base/parallel/threads.h"
#include "schedule/logs/window_log.h"
#include "synthesis/matching/direct/arrival_log.h"
#include "synthesis/matching/direct/gather_network.h"

namespace tacos::matching {

/// Whether NPUs with little time choose what no other source has (careful_choice.h): not those of a
/// team or of several threads.
enum class Care { kNowhere, kWhereTimeIsShort };

struct LogOptions {
  std::uint64_t seed = 1;
  /// Called with the share of deliveries made; may be empty.
  std::function<void(double)> progress = {};
  Care care = Care::kNowhere;
  /// Shares out the NPUs, and keeps their logs; null: one process has them all.
  Team* team = nullptr;
  /// Where the log is kept; empty: in memory.
  std::string directory = {};
};

/// Every delivery of the All-Gather; null when it would last longer than kMaxTime. The network must
/// connect every owner to every NPU.
[[nodiscard]] SharedLog match_oldest_first(const GatherNetwork& network,
                                           const GatherTask& task,
                                           const LogOptions& options,
                                           ThreadPool& pool);

}  // namespace tacos::matching
