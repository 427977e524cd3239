// SPDX-License-Identifier: MIT
#include "synthesis/trees/lanes.h"

#include <algorithm>

#include "synthesis/trees/group.h"

namespace tacos::trees {

Lanes::Lanes(const Fabric& fabric, const Packing& packing, Top top, bool mirrored)
    : trees_(packing.num_trees()), roots_(packing.roots) {
  add_lanes(fabric, packing, mirrored);
  if (top == Top::kMeeting) {
    add_meetings(packing);
  }
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
  const std::uint32_t cells = nodes * trees_;
  std::vector<std::uint32_t> items;
  const auto channel_of = [&](std::uint32_t item) {
    const Numbers& channels = item % 2 == 0 ? packing.up : packing.down;
    return channels.empty() ? kNone : channels[item / 2];
  };
  group(
      fabric.num_ports(),
      [&](const auto& add) {
        for (std::uint32_t item = 0; item < 2 * cells; ++item) {
          if (const std::uint32_t channel = channel_of(item); channel != kNone) {
            add(fabric.port(channel), item);
          }
        }
      },
      first_,
      items);
  out_.assign(cells, kNone);
  for (std::uint32_t port = 0; port < fabric.num_ports(); ++port) {
    for (std::uint32_t lane = first_[port]; lane < first_[port + 1]; ++lane) {
      const std::uint32_t channel = channel_of(items[lane]);
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

void Lanes::add_meetings(const Packing& packing) {
  for (std::uint32_t tree = 0; tree < trees_; ++tree) {
    const std::uint32_t partner_gate = packing.partners[tree] * trees_ + tree;
    meetings_.push_back({.up = out_[partner_gate],
                         .down = kNone,
                         .root_gate = roots_[tree] * trees_ + tree,
                         .partner_gate = partner_gate});
    into_[out_[partner_gate]] = kNone;
    out_[partner_gate] = kNone;
  }
  for (std::uint32_t lane = 0; lane < num_lanes(); ++lane) {
    Meeting& meeting = meetings_[tree_[lane]];
    if (!goes_up(lane) && lane != meeting.up && gate_of(lane) == meeting.partner_gate) {
      meeting.down = lane;
    }
  }
}

/// Down lanes follow the down lane that ends where they start, or the root.
void Lanes::add_next(const Fabric& fabric, bool mirrored) {
  const auto meets = [&](std::uint32_t lane) {
    return !meetings_.empty() &&
           (lane == meetings_[tree_[lane]].up || lane == meetings_[tree_[lane]].down);
  };
  Numbers down(out_.size(), kNone);
  for (std::uint32_t lane = 0; lane < num_lanes(); ++lane) {
    if (!goes_up(lane) && (!meets(lane) || lane == meetings_[tree_[lane]].down)) {
      down[gate_of(lane)] = lane;
    }
  }
  group(
      std::size_t{num_lanes()} + trees_,
      [&](const auto& add) {
        for (std::uint32_t lane = 0; lane < num_lanes(); ++lane) {
          if (!goes_up(lane) && !meets(lane)) {
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
  Numbers order;
  for (std::uint32_t tree = 0; tree < trees_; ++tree) {
    const Meeting meeting = meetings_.empty() ? Meeting{} : meetings_[tree];
    order.assign(opened_by_root(tree).begin(), opened_by_root(tree).end());
    if (meeting.down != kNone) {
      order.push_back(meeting.down);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto after = next(order[i]);
      order.insert(order.end(), after.begin(), after.end());
    }
    std::int64_t whole = 0;
    for (auto lane = order.rbegin(); lane != order.rend(); ++lane) {
      for (const std::uint32_t after : next(*lane)) {
        tail[*lane] = std::max(tail[*lane], tail[after]);
      }
      whole = std::max(whole, tail[*lane]);
      tail[*lane] += costs.arrival(channel_[*lane]);
      whole = std::max(whole, *lane == meeting.down ? 0 : tail[*lane]);
    }
    if (meeting.up != kNone) {
      whole += costs.arrival(channel_[meeting.up]);
      tail[meeting.up] = whole;
      tail[meeting.down] = whole;
    }
    add_tails_up(costs, tree, whole, tail);
  }
  return tail;
}

/// Of the up lanes, when what follows the gates at the top takes `whole`.
void Lanes::add_tails_up(const ChannelCosts& costs,
                         std::uint32_t tree,
                         std::int64_t whole,
                         std::vector<std::int64_t>& tail) const {
  const std::uint32_t root_gate = roots_[tree] * trees_ + tree;
  Numbers order(waits_for(root_gate).begin(), waits_for(root_gate).end());
  if (!meetings_.empty()) {
    const auto side = waits_for(meetings_[tree].partner_gate);
    order.insert(order.end(), side.begin(), side.end());
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t above = out_[into_[order[i]]];
    tail[order[i]] = costs.arrival(channel_[order[i]]) + (above == kNone ? whole : tail[above]);
    // The gate that this lane leaves has the same tree and the lane's own node.
    const auto below = waits_for(gate_of(order[i]));
    order.insert(order.end(), below.begin(), below.end());
  }
}

}  // namespace tacos::trees
