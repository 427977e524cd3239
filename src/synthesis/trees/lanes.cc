// SPDX-License-Identifier: MIT
#include "synthesis/trees/lanes.h"

#include <algorithm>
#include <numeric>

namespace tacos::trees {
namespace {

/// Items by owner, in the order in which `each` lists them; it is called twice.
template <class Each>
void group(std::size_t owners,
           const Each& each,
           std::vector<std::uint32_t>& first,
           std::vector<std::uint32_t>& items) {
  first.assign(owners + 1, 0);
  each([&](std::uint32_t owner, std::uint32_t /*item*/) { ++first[owner + 1]; });
  std::partial_sum(first.begin(), first.end(), first.begin());
  items.resize(first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  each([&](std::uint32_t owner, std::uint32_t item) { items[next[owner]++] = item; });
}

}  // namespace

Lanes::Lanes(const Fabric& fabric, const Packing& packing, bool mirrored)
    : trees_(packing.num_trees()), roots_(packing.roots) {
  add_lanes(fabric, packing, mirrored);
  group(
      out_.size(),
      [&](const auto& add) {
        for (std::uint32_t lane = 0; lane < num_lanes(); ++lane) {
          if (goes_up(lane)) {
            add(into_[lane], lane);
          }
        }
      },
      waits_first_,
      waits_);
  add_next(fabric, mirrored);
}

void Lanes::add_lanes(const Fabric& fabric, const Packing& packing, bool mirrored) {
  const std::uint32_t nodes = packing.num_nodes;
  // Items are (tree, node) twice: as it goes up in the packing, and as it goes down.
  const auto cells = static_cast<std::uint32_t>(packing.up.size());
  std::vector<std::uint32_t> items;
  group(
      fabric.num_channels(),
      [&](const auto& add) {
        for (std::uint32_t cell = 0; cell < cells; ++cell) {
          if (packing.up[cell] != kNone) {
            add(packing.up[cell], 2 * cell);
            add(packing.down[cell], 2 * cell + 1);
          }
        }
      },
      first_,
      items);
  out_.assign(cells, kNone);
  for (std::uint32_t channel = 0; channel < fabric.num_channels(); ++channel) {
    for (std::uint32_t lane = first_[channel]; lane < first_[channel + 1]; ++lane) {
      const std::uint32_t cell = items[lane] / 2;
      const bool up = (items[lane] % 2 == 0) != mirrored;
      channel_.push_back(channel);
      tree_.push_back(cell / nodes);
      node_.push_back(cell % nodes);
      // Mirrored, what goes up is a down channel run backwards, to its source.
      const std::uint32_t above = mirrored ? fabric.source(channel) : fabric.target(channel);
      into_.push_back(up ? above * trees_ + tree_.back() : kNone);
      if (up) {
        out_[gate_of(lane)] = lane;
      }
    }
  }
}

/// Down lanes follow the down lane that ends where they start, or the root.
void Lanes::add_next(const Fabric& fabric, bool mirrored) {
  Numbers down(out_.size(), kNone);
  for (std::uint32_t lane = 0; lane < num_lanes(); ++lane) {
    if (!goes_up(lane)) {
      down[gate_of(lane)] = lane;
    }
  }
  group(
      std::size_t{num_lanes()} + trees_,
      [&](const auto& add) {
        for (std::uint32_t lane = 0; lane < num_lanes(); ++lane) {
          if (!goes_up(lane)) {
            const std::uint32_t from =
                mirrored ? fabric.target(channel_[lane]) : fabric.source(channel_[lane]);
            const std::uint32_t before = down[from * trees_ + tree_[lane]];
            add(before == kNone ? num_lanes() + tree_[lane] : before, lane);
          }
        }
      },
      next_first_,
      next_);
}

std::vector<std::int64_t> Lanes::tails(const ChannelCosts& costs) const {
  std::vector<std::int64_t> tail(num_lanes(), 0);
  std::vector<std::uint32_t> order;
  for (std::uint32_t tree = 0; tree < trees_; ++tree) {
    order.assign(opened_by_root(tree).begin(), opened_by_root(tree).end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto after = next(order[i]);
      order.insert(order.end(), after.begin(), after.end());
    }
    std::int64_t whole = 0;
    for (auto lane = order.rbegin(); lane != order.rend(); ++lane) {
      for (const std::uint32_t after : next(*lane)) {
        tail[*lane] = std::max(tail[*lane], tail[after]);
      }
      tail[*lane] += costs.arrival(channel_[*lane]);
      whole = std::max(whole, tail[*lane]);
    }
    const std::uint32_t root_gate = roots_[tree] * trees_ + tree;
    order.assign(waits_for(root_gate).begin(), waits_for(root_gate).end());
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::uint32_t above = out_[into_[order[i]]];
      tail[order[i]] = costs.arrival(channel_[order[i]]) + (above == kNone ? whole : tail[above]);
      // The gate that this lane leaves has the same tree and the lane's own node.
      const auto below = waits_for(gate_of(order[i]));
      order.insert(order.end(), below.begin(), below.end());
    }
  }
  return tail;
}

}  // namespace tacos::trees
