// SPDX-License-Identifier: MIT
#include "synthesis/trees/lanes.h"

#include <algorithm>
#include <numeric>

namespace tacos::trees {

Lanes::Lanes(const Fabric& fabric, const Packing& packing, bool mirrored)
    : nodes_(packing.num_nodes), roots_(packing.roots) {
  const std::size_t lanes = std::size_t{2} * num_trees() * nodes_;
  channel_.resize(lanes);
  parent_.resize(lanes);
  for (std::uint32_t tree = 0; tree < num_trees(); ++tree) {
    for (std::uint32_t v = 0; v < nodes_; ++v) {
      const std::size_t at = std::size_t{tree} * nodes_ + v;
      const std::uint32_t rising = packing.up[at];
      const std::uint32_t falling = packing.down[at];
      channel_[up(tree, v)] = mirrored ? falling : rising;
      channel_[down(tree, v)] = mirrored ? rising : falling;
      const bool root = rising == kNone;
      const std::uint32_t above = root ? kNone : fabric.target(rising);
      const std::uint32_t before = root ? kNone : fabric.source(falling);
      parent_[up(tree, v)] = mirrored ? before : above;
      parent_[down(tree, v)] = mirrored ? above : before;
    }
  }
  index();
}

void Lanes::index() {
  next_first_.assign(channel_.size() + 1, 0);
  const auto parent_lane = [&](std::uint32_t lane) {
    return lane - node(lane) + parent_[lane];
  };
  for (std::uint32_t lane = 0; lane < num_lanes(); ++lane) {
    if (channel_[lane] != kNone) {
      ++next_first_[parent_lane(lane) + 1];
    }
  }
  std::partial_sum(next_first_.begin(), next_first_.end(), next_first_.begin());
  next_.resize(next_first_.back());
  std::vector<std::uint32_t> at(next_first_.begin(), next_first_.end() - 1);
  for (std::uint32_t lane = 0; lane < num_lanes(); ++lane) {
    if (channel_[lane] != kNone) {
      next_[at[parent_lane(lane)]++] = lane;
    }
  }
}

void Lanes::sort_lanes(std::uint32_t tree, bool up, std::vector<std::uint32_t>& order) const {
  order.assign(1, up ? this->up(tree, roots_[tree]) : down(tree, roots_[tree]));
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto below = next(order[i]);
    order.insert(order.end(), below.begin(), below.end());
  }
}

std::vector<std::int64_t> Lanes::tails(const ChannelCosts& costs) const {
  std::vector<std::int64_t> tail(num_lanes(), 0);
  std::vector<std::uint32_t> order;
  for (std::uint32_t tree = 0; tree < num_trees(); ++tree) {
    // Down: the longest way to a leaf below. The root's own lane collects that of the whole tree.
    sort_lanes(tree, false, order);
    for (auto lane = order.rbegin(); lane != order.rend(); ++lane) {
      std::int64_t below = 0;
      for (const std::uint32_t child : next(*lane)) {
        below = std::max(below, tail[child]);
      }
      tail[*lane] = below + (channel_[*lane] == kNone ? 0 : costs.arrival(channel_[*lane]));
    }
    const std::int64_t whole = tail[down(tree, roots_[tree])];
    sort_lanes(tree, true, order);
    for (const std::uint32_t lane : order) {
      if (channel_[lane] == kNone) {
        tail[lane] = whole;
      } else {
        tail[lane] = tail[lane - node(lane) + parent_[lane]] + costs.arrival(channel_[lane]);
      }
    }
  }
  return tail;
}

}  // namespace tacos::trees
