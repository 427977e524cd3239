// SPDX-License-Identifier: MIT
#include "synthesis/trees/timing/legs.h"

#include <algorithm>

namespace tacos::trees {

Legs::Legs(const Fabric& fabric, const Packing& packing, Top top, bool mirrored)
    : trees_(packing.num_trees()), roots_(packing.roots) {
  add_legs(fabric, packing, mirrored);
  if (top == Top::kMeeting) {
    add_meetings(packing);
  }
  waits_ = {out_.size(), [&](const auto& add) {
              for (std::uint32_t leg = 0; leg < num_legs(); ++leg) {
                if (goes_up(leg)) {
                  add(into_[leg], leg);
                }
              }
            }};
  add_next(fabric, mirrored);
}

void Legs::add_legs(const Fabric& fabric, const Packing& packing, bool mirrored) {
  const std::uint32_t nodes = packing.num_nodes;
  // Items are (tree, node) twice: as it goes up in the packing, and as it goes down.
  const std::uint32_t cells = nodes * trees_;
  const auto hop_of = [&](std::uint32_t item) {
    const Numbers& hops = item % 2 == 0 ? packing.up : packing.down;
    return hops.empty() ? kNone : hops[item / 2];
  };
  const Csr<std::uint32_t> by_outlet(fabric.num_outlets(), [&](const auto& add) {
    for (std::uint32_t item = 0; item < 2 * cells; ++item) {
      if (const std::uint32_t hop = hop_of(item); hop != kNone) {
        add(fabric.outlet(hop), item);
      }
    }
  });
  out_.assign(cells, kNone);
  for (std::uint32_t outlet = 0; outlet < fabric.num_outlets(); ++outlet) {
    first_.push_back(by_outlet.first(outlet));
    for (const std::uint32_t item : by_outlet[outlet]) {
      const auto leg = static_cast<std::uint32_t>(hop_.size());
      const std::uint32_t hop = hop_of(item);
      const std::uint32_t cell = item / 2;
      const bool up = (item % 2 == 0) != mirrored;
      hop_.push_back(hop);
      tree_.push_back(cell / nodes);
      node_.push_back(cell % nodes);
      // Mirrored, what goes up is a down hop run backwards, to its source.
      const std::uint32_t above = mirrored ? fabric.source(hop) : fabric.target(hop);
      into_.push_back(up ? above * trees_ + tree_.back() : kNone);
      if (up) {
        out_[gate_of(leg)] = leg;
      }
    }
  }
}

void Legs::add_meetings(const Packing& packing) {
  for (std::uint32_t tree = 0; tree < trees_; ++tree) {
    const std::uint32_t partner_gate = packing.partners[tree] * trees_ + tree;
    meetings_.push_back({.up = out_[partner_gate],
                         .down = kNone,
                         .root_gate = roots_[tree] * trees_ + tree,
                         .partner_gate = partner_gate});
    into_[out_[partner_gate]] = kNone;
    out_[partner_gate] = kNone;
  }
  for (std::uint32_t leg = 0; leg < num_legs(); ++leg) {
    Meeting& meeting = meetings_[tree_[leg]];
    if (!goes_up(leg) && leg != meeting.up && gate_of(leg) == meeting.partner_gate) {
      meeting.down = leg;
    }
  }
}

/// Down legs follow the down leg that ends where they start, or the root.
void Legs::add_next(const Fabric& fabric, bool mirrored) {
  const auto meets = [&](std::uint32_t leg) {
    return !meetings_.empty() &&
           (leg == meetings_[tree_[leg]].up || leg == meetings_[tree_[leg]].down);
  };
  Numbers down(out_.size(), kNone);
  for (std::uint32_t leg = 0; leg < num_legs(); ++leg) {
    if (!goes_up(leg) && (!meets(leg) || leg == meetings_[tree_[leg]].down)) {
      down[gate_of(leg)] = leg;
    }
  }
  next_ = {std::size_t{num_legs()} + trees_, [&](const auto& add) {
             for (std::uint32_t leg = 0; leg < num_legs(); ++leg) {
               if (!goes_up(leg) && !meets(leg)) {
                 const std::uint32_t from =
                     mirrored ? fabric.target(hop_[leg]) : fabric.source(hop_[leg]);
                 const std::uint32_t before = down[from * trees_ + tree_[leg]];
                 add(before == kNone ? num_legs() + tree_[leg] : before, leg);
               }
             }
           }};
}

std::vector<std::int64_t> Legs::tails(const HopCosts& costs) const {
  std::vector<std::int64_t> tail(num_legs(), 0);
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
    for (auto leg = order.rbegin(); leg != order.rend(); ++leg) {
      for (const std::uint32_t after : next(*leg)) {
        tail[*leg] = std::max(tail[*leg], tail[after]);
      }
      whole = std::max(whole, tail[*leg]);
      tail[*leg] += costs.arrival(hop_[*leg]);
      whole = std::max(whole, *leg == meeting.down ? 0 : tail[*leg]);
    }
    if (meeting.up != kNone) {
      whole += costs.arrival(hop_[meeting.up]);
      tail[meeting.up] = whole;
      tail[meeting.down] = whole;
    }
    add_tails_up(costs, tree, whole, tail);
  }
  return tail;
}

/// Of the up legs, when what follows the gates at the top takes `whole`.
void Legs::add_tails_up(const HopCosts& costs,
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
    tail[order[i]] = costs.arrival(hop_[order[i]]) + (above == kNone ? whole : tail[above]);
    // The gate that this leg leaves has the same tree and the leg's own node.
    const auto below = waits_for(gate_of(order[i]));
    order.insert(order.end(), below.begin(), below.end());
  }
}

}  // namespace tacos::trees
