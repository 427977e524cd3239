// SPDX-License-Identifier: MIT
// Hops with times, before they become the transfers of a schedule: messages by number, hops by
// route.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tacos/topology.h"

#include "replay/route_table.h"

namespace tacos::replay {

/// Messages that travel one hop together.
struct TimedHop {
  Ticks start;
  /// When the data is there.
  Ticks end;
  RouteId route = 0;
  /// In TimedHops::messages, up to those of the next transfer.
  std::uint32_t first_message = 0;
};

/// In order of start.
struct TimedHops {
  std::vector<TimedHop> transfers;
  std::vector<std::uint32_t> messages;
  Ticks end;
  /// How long the fullest link is busy when no transfer is shared.
  Ticks fullest;

  [[nodiscard]] std::span<const std::uint32_t> messages_of(std::size_t transfer) const {
    const std::size_t begin = transfers[transfer].first_message;
    const std::size_t stop =
        transfer + 1 < transfers.size() ? transfers[transfer + 1].first_message : messages.size();
    return std::span(messages).subspan(begin, stop - begin);
  }
};

/// The same transfers backwards on the network with every link turned round: [s, e) becomes
/// [T-e, T-s). Nothing where that could make a link busy twice: a route of unequal links begins
/// with its head and not with its tail, so its faster links would be busy earlier than mirrored.
/// Routes of `routes`, read backwards, are those of the result.
[[nodiscard]] std::optional<TimedHops> mirrored(const Topology& topology,
                                                const RouteTable& routes,
                                                const TimedHops& timed);

/// The hops of all messages, in the order of `itineraries` turned round, ranked by when they end in
/// `timed`: what ends last there should start first when time runs the other way.
[[nodiscard]] std::vector<std::int64_t> mirrored_ranks(const Itineraries& itineraries,
                                                       const TimedHops& timed);

}  // namespace tacos::replay
