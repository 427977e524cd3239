// SPDX-License-Identifier: MIT
// Greedy scheduling in time: a hop that becomes free sends what is ready and most urgent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/schedule.h"

#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/timing/legs.h"

namespace tacos::trees {

/// When chunks end in each leg, or how urgent they are: a row of legs per round, since the legs of
/// an outlet, which lie together, are in about the same round.
class LegTable {
 public:
  LegTable(const Legs& legs, std::uint32_t num_chunks)
      : legs_(legs.num_legs()),
        rounds_((num_chunks + legs.num_trees() - 1) / legs.num_trees()),
        values_(std::size_t{legs.num_legs()} * rounds_, 0) {}

  [[nodiscard]] std::uint32_t rounds() const { return rounds_; }
  [[nodiscard]] std::int64_t& at(std::uint32_t leg, std::uint32_t round) {
    return values_[std::size_t{round} * legs_ + leg];
  }
  /// Any round will do.
  void prefetch(std::uint32_t leg, std::uint32_t round) const {
    __builtin_prefetch(values_.data() + std::size_t{round} * legs_ + leg);
  }
  [[nodiscard]] std::int64_t at(std::uint32_t leg, std::uint32_t round) const {
    return values_[std::size_t{round} * legs_ + leg];
  }

 private:
  std::uint32_t legs_;
  std::uint32_t rounds_;
  std::vector<std::int64_t> values_;
};

/// How urgent chunk `round` of a leg is: base + round * step, or an entry of a table. Least first.
struct Urgency {
  std::vector<std::int64_t> base;
  std::int64_t step = 0;
  const LegTable* table = nullptr;
};

/// Tree `c` mod trees carries chunk `c`.
[[nodiscard]] inline std::uint32_t rounds_of(std::uint32_t tree,
                                             std::uint32_t num_trees,
                                             std::uint32_t num_chunks) {
  return num_chunks / num_trees + (tree < num_chunks % num_trees ? 1 : 0);
}

/// What a hop may put into one transfer.
struct TransferSharing {
  /// Per hop, at least one; empty: one everywhere.
  std::vector<std::uint32_t> limit;
  [[nodiscard]] std::uint32_t most() const {
    return limit.empty() ? 1 : *std::max_element(limit.begin(), limit.end());
  }
  [[nodiscard]] std::uint32_t of(std::uint32_t hop) const { return limit.empty() ? 1 : limit[hop]; }
};

struct LegProblem {
  const Fabric& fabric;
  const Legs& legs;
  const HopCosts& costs;
  const TransferSharing& sharing;
  std::uint32_t num_chunks = 0;
  /// Chunks are numbered by owner, and trees belong to owners in turn; 1 when they belong to
  /// nobody.
  std::uint32_t num_owners = 1;

  [[nodiscard]] ChunkId chunk(std::uint32_t tree, std::uint32_t round) const {
    const std::uint32_t owner = tree % num_owners;
    const std::uint32_t trees = legs.num_trees() / num_owners;
    return ChunkId(owner * (num_chunks / num_owners) + round * trees + tree / num_owners);
  }
};

/// Where the transfers go; either may be left out.
struct LegOutput {
  LegTable* ends = nullptr;
  /// Called in the order of a schedule, with when the transfer ends.
  std::function<void(const Transfer& transfer, Ticks end)> record = nullptr;
  const Topology* topology = nullptr;
  const ChunkTable* chunks = nullptr;
};

/// Decides what starts, one instant after the other. Returns when the last transfer ends; some time
/// after the limit when that is later.
std::int64_t schedule_legs(const LegProblem& problem,
                           const Urgency& urgency,
                           const LegOutput& output,
                           std::int64_t limit = kMaxTime.ps);

}  // namespace tacos::trees
