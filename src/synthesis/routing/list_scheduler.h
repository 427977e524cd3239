// SPDX-License-Identifier: MIT
// When each hop of each message starts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "tacos/topology.h"

#include "synthesis/routing/plan.h"
#include "synthesis/routing/route_table.h"

namespace tacos {

struct ListOptions {
  LinkModel link_model = LinkModel::kHold;
  Bytes chunk_bytes;
  /// Messages share a transfer while they take at most this many latencies of a link; 0: never.
  std::int64_t patience = 0;
  /// Breaks ties.
  std::uint64_t seed = 1;
  /// Of each hop of the itineraries: larger goes first. Empty: longest way to go first.
  std::span<const std::int64_t> ranks = {};
};

/// Nothing when it would last longer than kMaxTime.
[[nodiscard]] std::optional<Plan> schedule_hops(const Topology& topology,
                                                const RouteTable& routes,
                                                const Itineraries& itineraries,
                                                const ListOptions& options);

}  // namespace tacos
