// SPDX-License-Identifier: MIT
// From a size to a schedule: how many chunks, how many trees, what shares a transfer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "synthesis/trees/fabric.h"
#include "synthesis/trees/lanes.h"
#include "synthesis/trees/list_schedule.h"
#include "synthesis/trees/packing.h"
#include "synthesis/trees/period_bound.h"
#include "synthesis/trees/roots.h"

namespace tacos::trees {

/// A schedule that has been timed but not written down.
struct Plan {
  std::uint32_t chunks = 0;
  std::uint32_t group = 1;
  Packing packing;
  /// From list scheduling: the urgencies that gave `time`. Empty: the formula did.
  std::optional<LaneTable> urgency;
  std::int64_t time = kMaxTime.ps;
};

class Search {
 public:
  Search(const Topology& topology,
         const Fabric& fabric,
         Bytes size,
         LinkModel model,
         std::uint64_t seed);

  /// The best number of chunks for the size.
  [[nodiscard]] Plan best();
  /// The best schedule with exactly this many chunks.
  [[nodiscard]] Plan best_with(std::uint32_t chunks);
  [[nodiscard]] Schedule record(const Plan& plan) const;

 private:
  [[nodiscard]] Bytes chunk_bytes(std::uint32_t chunks) const;
  [[nodiscard]] ChannelCosts costs(std::uint32_t chunks) const;
  [[nodiscard]] Grouping grouping(const ChannelCosts& costs, std::uint32_t group) const;
  [[nodiscard]] bool is_large(std::uint32_t chunks) const;
  [[nodiscard]] Packing pack(const ChannelCosts& costs, std::uint32_t chunks);
  [[nodiscard]] std::vector<std::uint32_t> tree_counts(const PeriodBound& bound,
                                                       std::uint32_t chunks) const;
  [[nodiscard]] std::uint32_t guess_chunks();
  [[nodiscard]] Plan evaluate(std::uint32_t chunks, std::uint32_t group);
  void improve_by_lists(const ChannelCosts& costs, Plan& plan) const;
  void refine(Plan& best);
  void climb(std::uint32_t from, std::uint32_t group, Plan& best);
  [[nodiscard]] std::uint64_t transfers(std::uint64_t chunks) const {
    return 2 * chunks * (fabric_.num_nodes() - 1);
  }

  const Topology& topology_;
  const Fabric& fabric_;
  Bytes size_;
  LinkModel model_;
  std::uint64_t seed_;
  Centre centre_;
  bool fixed_ = false;
  /// The first packing, for many chunks.
  Packing kept_;
  /// Transfers that may still be simulated in search of something better.
  std::int64_t budget_ = 0;
};

}  // namespace tacos::trees
