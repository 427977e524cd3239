// SPDX-License-Identifier: MIT
// When each hop of each message starts.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "tacos/topology.h"

#include "replay/route_table.h"
#include "replay/timed_hops.h"

namespace tacos::replay {

/// Which of the messages that wait for a link goes first.
enum class Ranking {
  kWay,         ///< the one with the longest way to go after this hop
  kWayAndWork,  ///< the same, plus when the fullest link on that way could be done
};

struct HopOptions {
  LinkModel link_model = LinkModel::kHold;
  Bytes chunk_bytes;
  /// Messages share a transfer while they take at most this many latencies of a link; 0: never.
  std::int64_t patience = 0;
  /// A link that could start a shared transfer waits for messages that are on their way to it, this
  /// share of its latency at most.
  std::int64_t wait_percent = 0;
  /// Breaks ties.
  std::uint64_t seed = 1;
  Ranking ranking = Ranking::kWay;
  /// Of each hop of the itineraries: larger goes first, instead of the ranking. May be empty.
  std::span<const std::int64_t> ranks = {};
  /// Called now and then with the share of the hops that have started; may be empty.
  std::function<void(double)> progress = {};
};

/// Nothing when it would last longer than kMaxTime.
[[nodiscard]] std::optional<TimedHops> schedule_hops(const Topology& topology,
                                                     const RouteTable& routes,
                                                     const Itineraries& itineraries,
                                                     const HopOptions& options);

}  // namespace tacos::replay
