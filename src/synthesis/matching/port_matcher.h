// SPDX-License-Identifier: MIT
// Link-chunk matching through switches and across fast and slow links, chunks sharing transfers.
#pragma once

#include <cstdint>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "synthesis/matching/gather_network.h"

namespace tacos {

struct PortOptions {
  Direction direction = Direction::kWithLinks;
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  /// The most chunks in one transfer: more pays one latency for several.
  std::uint32_t share = 1;
};

/// An All-Gather in start order. Against the links, routes are as the data goes: against them too.
/// The network must connect every participant to every other.
[[nodiscard]] TransferBatch match_ports(const Topology& topology,
                                        const Collective& collective,
                                        const PortOptions& options);

}  // namespace tacos
