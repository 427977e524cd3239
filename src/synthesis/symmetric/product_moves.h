// SPDX-License-Identifier: MIT
// Where the links of a product of dimensions are, and how fast: what broadcasts and patterns need.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"

#include "schedule/pattern.h"
#include "synthesis/symmetric/broadcast.h"

namespace tacos {

/// The moves of a product: what make_product numbers in which order.
class ProductMoves {
 public:
  explicit ProductMoves(std::span<const Dimension> dimensions);

  [[nodiscard]] std::span<const std::uint32_t> lengths() const { return frame_.lengths; }
  /// A pattern without entries.
  [[nodiscard]] const Pattern& frame() const { return frame_; }
  /// Index of the move that adds `step` to a coordinate.
  [[nodiscard]] std::uint32_t move(std::uint32_t axis, std::uint32_t step) const;
  /// What can be sent in parallel, for chunks of this size.
  [[nodiscard]] std::vector<Server> servers(Bytes chunk, LinkModel model) const;

 private:
  std::vector<Dimension> dimensions_;
  Pattern frame_;
  /// By dimension.
  std::vector<std::uint32_t> first_move_;
};

}  // namespace tacos
