// SPDX-License-Identifier: MIT
// Some nodes of a network with their places, as they are put together to larger blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "draw/layout.h"
#include "draw/layouts/layouts.h"

namespace tacos::draw {

struct Block {
  std::vector<std::uint32_t> nodes;
  /// Of each of them.
  std::vector<Place> places;
  /// Outer ones first.
  std::vector<Frame> frames;
  std::uint32_t npus = 0;
  /// Of the frame that it will get.
  std::string label;

  [[nodiscard]] Extents extents() const;
  void add(std::uint32_t node, Place place);
  /// Another block, moved by `offset`.
  void add(const Block& other, Place offset);
  /// Around all of it, when it is more than a node. Where boxes have so many NPUs, a block of as
  /// many is called by its number.
  void put_frame(std::uint32_t npus_per_box);
};

/// Side by side, in rows.
[[nodiscard]] Block in_rows(const std::vector<const Block*>& blocks);

}  // namespace tacos::draw
