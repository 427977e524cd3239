// SPDX-License-Identifier: MIT
// From a size to a schedule: how many chunks, how many trees, what shares a transfer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "base/wide.h"
#include "synthesis/trees/fabric.h"
#include "synthesis/trees/job.h"
#include "synthesis/trees/lanes.h"
#include "synthesis/trees/list_schedule.h"
#include "synthesis/trees/packing.h"
#include "synthesis/trees/period_bound.h"
#include "synthesis/trees/plan.h"
#include "synthesis/trees/roots.h"

namespace tacos::trees {

class Search {
 public:
  Search(const Topology& topology,
         const Fabric& fabric,
         const Job& job,
         Bytes size,
         LinkModel model,
         std::uint64_t seed);

  /// The best number of chunks for the size.
  [[nodiscard]] Plan best();
  /// The best schedule with exactly this many chunks.
  [[nodiscard]] Plan best_with(std::uint32_t chunks);

 private:
  [[nodiscard]] Bytes chunk_bytes(std::uint32_t chunks) const;
  [[nodiscard]] ChannelCosts costs(std::uint32_t chunks) const;
  [[nodiscard]] bool is_large(std::uint32_t chunks) const;
  [[nodiscard]] bool may_be_too_deep(const ChannelCosts& costs) const;
  [[nodiscard]] Packing pack(const ChannelCosts& costs, std::uint32_t chunks, Top top);
  [[nodiscard]] Packing pack_with(std::uint32_t trees,
                                  const ChannelCosts& costs,
                                  const PeriodBound& bound,
                                  std::uint32_t chunks,
                                  Top top) const;
  [[nodiscard]] Int128 promise(const Packing& packing, std::uint32_t chunks) const;
  [[nodiscard]] std::vector<std::uint32_t> tree_counts(const PeriodBound& bound,
                                                       std::uint32_t chunks) const;
  [[nodiscard]] std::uint32_t guess_chunks();
  [[nodiscard]] Plan evaluate(std::uint32_t chunks, Shape shape);
  void improve_by_lists(const ChannelCosts& costs, Plan& plan) const;
  [[nodiscard]] bool affordable(std::uint32_t chunks) const;
  bool try_plan(std::uint32_t chunks, Shape shape, Plan& best);
  void refine(Plan& best);
  [[nodiscard]] std::vector<Shape> shapes(const Plan& plain) const;
  void climb(std::uint32_t from, Shape shape, Plan& best);
  /// Into so many the buffer can be cut, with at least a byte in each.
  [[nodiscard]] std::int64_t most_chunks() const { return size_.count / job_.unit() * job_.unit(); }
  [[nodiscard]] std::uint64_t transfers(std::uint64_t chunks) const {
    return chunks * job_.transfers_per_chunk();
  }

  const Topology& topology_;
  const Fabric& fabric_;
  const Job& job_;
  Bytes size_;
  LinkModel model_;
  std::uint64_t seed_;
  Centre centre_;
  /// Whether trees that avoid loaded links from the beginning are worth their time.
  bool grows_;
  bool fixed_ = false;
  /// Whether what is kept does not depend on the size of chunks.
  bool kept_arborescences_ = false;
  /// The first packing of each kind of top, for many chunks.
  std::array<Packing, 2> kept_;
  /// Transfers that may still be simulated in search of something better.
  std::int64_t budget_ = 0;
};

}  // namespace tacos::trees
