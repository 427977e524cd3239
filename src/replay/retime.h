// SPDX-License-Identifier: MIT
// Gives transfers the earliest times that keep their order on every link.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "schedule/builder.h"

namespace tacos::replay {

/// Each transfer starts as soon as its source holds its chunks and its links are free behind the
/// transfers before it. `planned` is in start order, its times may be wrong; what a transfer needs
/// comes before it, and no chunk is exchanged both ways at once. A barrier between two phases goes
/// away. Over direct links nothing gets later. O(transfers log transfers), 8 bytes for each (NPU,
/// chunk). `earliest`, which may be empty, has a time for each of them that it does not start
/// before.
[[nodiscard]] Schedule retime(const Topology& topology,
                              const Collective& collective,
                              LinkModel model,
                              const TransferBatch& planned,
                              std::span<const Ticks> earliest = {});

/// The same transfers with other times, as a schedule.
[[nodiscard]] Schedule with_times(const Topology& topology,
                                  const TransferBatch& transfers,
                                  std::span<const Ticks> start,
                                  std::span<const Ticks> end);

/// The transfers by (start, first link): the order of a schedule.
[[nodiscard]] std::vector<std::uint32_t> start_order(const TransferBatch& transfers,
                                                     std::span<const Ticks> start);

/// The transfers of a schedule in memory, in order.
[[nodiscard]] TransferBatch all_transfers(const Schedule& schedule);

/// `gather` against the links, run backwards: routes turned round, copies become reduces. Times are
/// mirrored, so that what ended last starts first, at 0; over routes with unequal links they
/// overlap and need retime.
[[nodiscard]] TransferBatch mirrored(const Topology& topology,
                                     const Collective& collective,
                                     const TransferBatch& gather);

}  // namespace tacos::replay
