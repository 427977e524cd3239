// SPDX-License-Identifier: MIT
// Link-chunk matching on small networks of direct links: what fewest NPUs hold goes first.
#pragma once

#include <cstdint>
#include <functional>

#include "synthesis/common/delivery_buffer.h"
#include "synthesis/matching/direct/arrival_log.h"
#include "synthesis/matching/direct/gather_network.h"

namespace tacos::matching {

struct RarestOptions {
  std::uint64_t seed = 1;
  /// Called with the share of deliveries made; may be empty.
  std::function<void(double)> progress = {};
};

/// Fills `out` with every delivery of the All-Gather. False when it would last longer than
/// kMaxTime. The network must connect every owner to every NPU.
[[nodiscard]] bool match_rarest_first(const GatherNetwork& network,
                                      const GatherTask& task,
                                      const RarestOptions& options,
                                      DeliveryBuffer& out);

}  // namespace tacos::matching
