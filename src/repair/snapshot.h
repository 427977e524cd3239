// SPDX-License-Identifier: MIT
// What a schedule has done when something fails while it runs, and what is left to do.
//
// A copied chunk is wherever it started or has arrived. A sum is in parts: every NPU has the shares
// that were added to its own, and still has them while it sends them and after. Of all parts the
// largest are taken that have no share twice; those of trees are disjoint or contain one another,
// so together they are the whole sum. Parts with a share of an NPU that is gone are spoiled, since
// nothing can be taken out of a sum: shares that are in no other part come from the inputs again.
//
// O(moves log moves), of sums x participants / 64.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos::repairing {

/// Where and when a sum was planned to be whole for the first time.
struct Hub {
  NodeId npu;
  Ticks since;
};

struct Snapshot {
  /// Of the chunks that somebody who is left needs, in their order: who has them, or disjoint parts
  /// of their sums, and who needs them.
  std::vector<CustomChunk> chunks;
  /// Of each of them that is in parts; nothing where it was never planned to be whole.
  std::vector<std::optional<Hub>> hubs;
  /// Copies that are under way over links that work. As all transfers here they have chunks by
  /// their place in `chunks`; starts are those of the schedule, in order.
  TransferBatch under_way;
  /// Not begun or lost: copies, and parts of sums, which count only once they have arrived.
  TransferBatch copies;
  TransferBatch sums;
  /// Chunks moved, those on their way that count, and those that do not with their links.
  std::uint64_t arrived_moves = 0;
  std::uint64_t under_way_moves = 0;
  std::uint64_t lost_moves = 0;
  /// Sums of which some share must come from the inputs again.
  std::uint32_t restarted_sums = 0;
};

/// Whether it is small enough to be looked at chunk by chunk.
[[nodiscard]] bool can_be_looked_at(const Bundle& bundle);

/// `now` is the network after the failure, `left` those who take part then. Fails where the
/// schedule cannot be read.
[[nodiscard]] Result<Snapshot> snapshot(const Bundle& before,
                                        const Topology& now,
                                        std::span<const NodeId> left,
                                        Ticks at);

}  // namespace tacos::repairing
