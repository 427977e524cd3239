// SPDX-License-Identifier: MIT
#include "draw/layouts/block.h"

#include <algorithm>

#include <fmt/format.h>

namespace tacos::draw {
namespace {

constexpr double kBlockMargin = 0.55;
/// More room above, for a label.
constexpr double kLabel = 0.32;
constexpr double kBetweenBlocks = 0.5;

}  // namespace

Extents Block::extents() const {
  Extents all;
  for (const Place& place : places) {
    all.add(place);
  }
  for (const Frame& frame : frames) {
    all.add(frame.low);
    all.add(frame.high);
  }
  return all;
}

void Block::add(std::uint32_t node, Place place) {
  nodes.push_back(node);
  places.push_back(place);
}

void Block::add(const Block& other, Place offset) {
  for (std::size_t i = 0; i < other.nodes.size(); ++i) {
    add(other.nodes[i], other.places[i] + offset);
  }
  for (Frame frame : other.frames) {
    frame.low = frame.low + offset;
    frame.high = frame.high + offset;
    frames.push_back(std::move(frame));
  }
  npus += other.npus;
}

void Block::put_frame(std::uint32_t npus_per_box) {
  if (nodes.size() < 2) {
    return;
  }
  if (label.empty() && npus_per_box > 0 && npus == npus_per_box) {
    label = fmt::format("box {}", *std::min_element(nodes.begin(), nodes.end()) / npus_per_box);
  }
  const Extents inside = extents();
  const double top = kBlockMargin + (label.empty() ? 0 : kLabel);
  frames.insert(frames.begin(),
                {.outline = Outline::kBox,
                 .low = inside.low - Place{kBlockMargin, top},
                 .high = inside.high + Place{kBlockMargin, kBlockMargin},
                 .skew = 0,
                 .label = std::move(label)});
  label.clear();
}

Block in_rows(const std::vector<const Block*>& blocks) {
  double wide = 0;
  double high = 0;
  for (const Block* const block : blocks) {
    const Extents extents = block->extents();
    wide = std::max(wide, extents.width() + kBetweenBlocks);
    high = std::max(high, extents.height() + kBetweenBlocks);
  }
  // Wide rows rather than tall columns: switches come above.
  const std::uint32_t columns =
      columns_for(static_cast<std::uint32_t>(blocks.size()), wide, 1.6 * high);
  Block all;
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    const Extents extents = blocks[i]->extents();
    const std::uint32_t row = i / columns;
    const Place corner{i % columns * wide, row * high};
    // At the foot of its cell, in the middle.
    all.add(*blocks[i],
            {corner.x + (wide - extents.width()) / 2 - extents.low.x,
             corner.y + high - extents.high.y});
  }
  return all;
}

}  // namespace tacos::draw
