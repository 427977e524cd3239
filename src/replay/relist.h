// SPDX-License-Identifier: MIT
// Decides anew in which order links take planned transfers.
#pragma once

#include <optional>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos::replay {

/// Whether some transfer takes a route of links with unequal bandwidths, so that mirroring it moves
/// the times at which its faster links are busy.
[[nodiscard]] bool has_unequal_routes(const Topology& topology, const TransferBatch& transfers);

/// The same chunks over the same routes, list scheduled: a link that is free takes what can start,
/// the earliest of `planned` first, instead of waiting for its turn. Pays where they were planned
/// for other times, as when it is mirrored over routes with unequal links. Every chunk gets a
/// transfer of its own. Nothing when it would last too long. O(transfers log transfers).
[[nodiscard]] std::optional<TransferBatch> relisted(const Topology& topology,
                                                    const Collective& collective,
                                                    LinkModel model,
                                                    const TransferBatch& planned);

}  // namespace tacos::replay
