// SPDX-License-Identifier: MIT
// The transfers of a copying schedule, those over dead links replaced by others.
//
// A chunk whose transfers all work keeps them. Of another chunk the transfers are walked in start
// order: what still gets it is known, what came over a dead link is lost, with all that was sent on
// from there. Each NPU that lost it gets it over the cheapest path from an NPU that has it, where a
// link costs what it has to carry already (Dijkstra from the receiver, which seldom looks further
// than its neighbours); then what it sent on is sent on again, later. So does everybody else who
// needs the chunk and whom nothing brings it. What nobody needs any more is left out.
//
// O(transfers + broken chunks x (transfers of a chunk + links log nodes)).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "base/csr.h"

namespace tacos::repairing {

/// Which way a schedule is read: of sums, from the last transfer to the first against the links, as
/// if what they are made of were handed out.
enum class Reading { kForwards, kBackwards };

/// A schedule of copies, ready to be repaired.
struct Copies {
  TransferBatch transfers;
  /// Of each chunk, in start order.
  Csr<std::uint32_t> of_chunk;
  /// That use a link, in start order.
  Csr<std::uint32_t> of_link;
  Reading reading = Reading::kForwards;
  /// Since when those have each chunk who have it at first; empty: since the beginning.
  std::vector<Ticks> since = {};
  /// Whether some may lack chunks although no link of theirs is dead.
  bool is_part = false;
};

/// With the two lists made of the transfers.
[[nodiscard]] Copies index_copies(const Topology& topology,
                                  const Collective& collective,
                                  TransferBatch transfers,
                                  Reading reading);

/// Of a transfer that is not where it was among the others.
inline constexpr std::uint32_t kAddedTransfer = ~std::uint32_t{0};

struct Rerouted {
  /// In an order in which what a transfer needs comes before it.
  TransferBatch transfers;
  /// Which of those before each of them was, with all chunks or some; kAddedTransfer for others.
  std::vector<std::uint32_t> from;
  std::uint64_t kept = 0;
  std::uint64_t added = 0;
};

/// `topology` is the network as it is now, turned round where copies are read backwards. Nothing
/// where somebody cannot be reached.
[[nodiscard]] std::optional<Rerouted> reroute(const Topology& topology,
                                              const Collective& collective,
                                              LinkModel model,
                                              const Copies& copies);

}  // namespace tacos::repairing
