// SPDX-License-Identifier: MIT
// Link-chunk matching through switches and across fast and slow links, chunks sharing transfers.
#pragma once

#include <cstdint>
#include <optional>

#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "synthesis/common/direction.h"
#include "synthesis/common/spread_task.h"
#include "synthesis/matching/ports/offers.h"

namespace tacos::matching {

/// What makes a chunk rare.
enum class Rarity {
  kNpus,            ///< few NPUs have it
  kNeighbourhoods,  ///< few neighbourhoods of faster links have it
};

/// Which links may carry several chunks in one transfer.
enum class Sharing {
  kAllLinks,
  kFastLinks,  ///< as many as take no longer than one chunk on the slowest link
};

struct PortOptions {
  Direction direction = Direction::kWithLinks;
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  /// The most chunks in one transfer: more pays one latency for several.
  std::uint32_t share = 1;
  Sharing sharing = Sharing::kAllLinks;
  Rarity rarity = Rarity::kNpus;
  Duplicates duplicates = Duplicates::kAvoid;
  Pace pace = Pace::kArrival;
  /// It gives up as soon as something that is wanted would arrive at this time or later.
  Ticks limit = kMaxTime;
};

/// The copying phase of a collective (spread_task.h), in start order. Against the links, routes are
/// as the data goes: against them too. The network must connect every holder to who wants. Nothing
/// when it would last until the limit or longer.
[[nodiscard]] std::optional<TransferBatch> match_ports(const Topology& topology,
                                                       const SpreadTask& task,
                                                       const PortOptions& options);

}  // namespace tacos::matching
