// SPDX-License-Identifier: MIT
// Where the links of a product of dimensions are, and how fast: what broadcasts and patterns need.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "base/numbers/mixed_radix.h"
#include "schedule/patterns/pattern.h"
#include "synthesis/symmetric/moves.h"

namespace tacos::symmetric {

/// The moves of a product: what make_product numbers in which order.
class ProductMoves {
 public:
  explicit ProductMoves(std::span<const Dimension> dimensions);

  [[nodiscard]] const Moves& moves() const { return moves_; }
  /// The motif as a pattern.
  [[nodiscard]] Schedule schedule(const Motif& motif) const;

 private:
  void add_moves(std::uint32_t axis);
  void add_ways(std::uint32_t axis);
  /// Index in the pattern of the move that leads from one element to another along a dimension.
  [[nodiscard]] std::uint32_t move(const Step& step) const;

  std::vector<Dimension> dimensions_;
  MixedRadix group_;
  Moves moves_;
  /// A pattern without entries.
  Pattern frame_;
  /// By dimension.
  std::vector<std::uint32_t> first_move_;
};

}  // namespace tacos::symmetric
