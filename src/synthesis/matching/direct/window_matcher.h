// SPDX-License-Identifier: MIT
// Link-chunk matching on any network of direct links, in windows of time.
#pragma once

#include <cstdint>
#include <functional>

#include "base/parallel/threads.h"
#include "synthesis/common/delivery_buffer.h"
#include "synthesis/matching/direct/arrival_log.h"
#include "synthesis/matching/direct/gather_network.h"

namespace tacos::matching {

/// How a destination chooses among the chunks that its links could deliver.
enum class Choice {
  kOldestFirst,  ///< each link takes what its source got first: O(1) a probe, parallel
  kRarestFirst,  ///< maximum matching of links and chunks that fewest NPUs hold: small networks
};

struct MatchOptions {
  Choice choice = Choice::kRarestFirst;
  std::uint64_t seed = 1;
  /// Called with the share of deliveries made; may be empty.
  std::function<void(double)> progress = {};
};

/// Fills `out` with every delivery of the All-Gather. False when it would last longer than
/// kMaxTime. The network must connect every owner to every NPU.
[[nodiscard]] bool match_in_windows(const GatherNetwork& network,
                                    const GatherTask& task,
                                    const MatchOptions& options,
                                    ThreadPool& pool,
                                    DeliveryBuffer& out);

}  // namespace tacos::matching
