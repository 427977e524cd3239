// SPDX-License-Identifier: MIT
// Gives transfers the earliest times that keep their order on every link.
#pragma once

#include <span>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "schedule/builder.h"

namespace tacos {

/// Each transfer starts as soon as its source holds its chunks and its links are free behind the
/// transfers before it. `planned` is in start order; what a transfer needs comes before it. With
/// times that were right already nothing gets later, and a barrier between two phases goes away.
/// O(transfers log transfers), 8 bytes for each (NPU, chunk).
[[nodiscard]] Schedule retime(const Topology& topology,
                              const Collective& collective,
                              LinkModel model,
                              const TransferBatch& planned);

/// `gather` against the links, run backwards: routes turned round, copies become reduces. Times are
/// mirrored at `end`; over routes with unequal links they overlap and need retime.
[[nodiscard]] TransferBatch mirrored(const Topology& topology,
                                     const Collective& collective,
                                     const TransferBatch& gather);

}  // namespace tacos
