// SPDX-License-Identifier: MIT
// Recursive halving, then doubling, for messages of middle size on networks rich enough to have it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"
#include "tacos/units.h"

#include "synthesis/trees/exchange/doubling.h"

namespace tacos::trees {

/// Along the masks of recursive doubling, but each exchange halves what an NPU sums on, until it
/// has the sum of one piece; then the same exchanges backwards double what it has.
class Halving {
 public:
  /// Nothing on networks so large that it would be slow to write down.
  [[nodiscard]] static std::optional<Halving> make(const Doubling& doubling);

  /// The buffer must be cut into exactly this many chunks.
  [[nodiscard]] std::uint32_t num_chunks() const { return turns_ * pieces_; }
  [[nodiscard]] Ticks time(const ChunkTable& chunks) const;
  [[nodiscard]] Schedule record(const ChunkTable& chunks) const;

 private:
  explicit Halving(const Doubling& doubling);
  [[nodiscard]] std::uint32_t num_steps() const { return 2 * doubling_->num_steps(); }
  /// The mask that a turn uses in a step, and how many masks the turn has used before it.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> mask_of(std::uint32_t turn,
                                                                std::uint32_t step) const;
  /// Whether an NPU sends a piece in a step of a turn.
  [[nodiscard]] bool sends(std::uint32_t turn,
                           std::uint32_t step,
                           std::uint32_t npu,
                           std::uint32_t piece) const;
  [[nodiscard]] Ticks duration(const ChunkTable& chunks, std::uint32_t step) const;

  const Doubling* doubling_;
  std::uint32_t turns_;
  std::uint32_t pieces_;
  /// Which masks lead from NPU 0 to an NPU, a bit for each: the piece that it ends up with.
  std::vector<std::uint32_t> place_;
};

}  // namespace tacos::trees
