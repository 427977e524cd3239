// SPDX-License-Identifier: MIT
// The trees that exchanges begin with.
//
// Planted: shortest ways from the root, over the least loaded hops among equals. Shallow, and
// on networks without bottlenecks exchanges make the loads even.
//
// Grown: one NPU after the other, nearest first, but never over a link that would carry more than
// its share of a period by then while there is another way. Where a few slow links join fast parts
// of a network, shortest ways all begin at the root's own link, and no exchange of one edge at a
// time gets away from that.
#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

#include "base/numbers/rng.h"
#include "base/numbers/wide.h"
#include "synthesis/trees/packing/packer.h"
#include "synthesis/trees/packing/roots.h"

namespace tacos::trees {

void Packer::plant(std::uint64_t seed) {
  Rng rng(seed);
  for (std::uint32_t tree = 0; tree < num_trees(); ++tree) {
    plant_tree(tree, rng);
  }
}

/// Hangs a node by the hop that is least loaded of those on a shortest way.
void Packer::hang_nearest(std::uint32_t tree,
                          std::uint32_t node,
                          std::span<const std::int64_t> distance,
                          Rng& rng) {
  const Side& side = sides_[side_of(tree)];
  const std::uint32_t root = root_of(tree);
  std::uint32_t& choice = choice_[std::size_t{tree} * nodes_ + node];
  std::tuple<bool, std::int64_t, std::uint64_t> best_key;
  for (std::uint32_t c = side.first[node]; c < side.first[node + 1]; ++c) {
    const auto [parent, hop] = side.choices[c];
    const bool fits = is_partner(tree, node)
                          ? parent == root
                          : distance[parent] + costs_.arrival(hop) == distance[node];
    if (!fits) {
      continue;
    }
    std::int64_t longest = 0;
    for (const LinkId link : fabric_.links(hop)) {
      const std::uint32_t r = resource(link.value());
      longest = std::max(longest, time_of(r) + costs_.busy(r));
    }
    // A way that is in the tree anyway costs less than a new one.
    const bool apart = depth_[std::size_t{tree} * nodes_ + parent] == kOutside;
    const std::tuple key{apart, longest, rng.next()};
    if (choice == kNone || key < best_key) {
      best_key = key;
      choice = c;
    }
  }
  add_load(side.choices[choice].hop, 1);
  limit_[side_of(tree)] = std::max(limit_[side_of(tree)], distance[node]);
}

void Packer::plant_tree(std::uint32_t tree, Rng& rng) {
  const Side& side = sides_[side_of(tree)];
  const std::uint32_t root = root_of(tree);
  std::int64_t* const depth = &depth_[std::size_t{tree} * nodes_];
  std::vector<std::int64_t> distance;
  std::vector<std::uint32_t> top(1, root);
  if (!partners_.empty()) {
    top.push_back(partners_[tree]);
  }
  distances(fabric_, costs_.arrivals(), top, !side.out_tree, distance);
  std::vector<std::uint32_t> order(nodes_);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(distance[a], a) < std::pair(distance[b], b);
  });
  depth[root] = 0;
  if (job_.everybody()) {
    for (const std::uint32_t node : order) {
      if (node != root) {
        hang_nearest(tree, node, distance, rng);
        depth[node] = distance[node];
      }
    }
    return;
  }
  // From the far end: by then it is known who needs an NPU that takes no part itself.
  for (const std::uint32_t participant : job_.participants) {
    depth[participant] = distance[participant];
  }
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    if (*node != root && depth[*node] != kOutside) {
      hang_nearest(tree, *node, distance, rng);
      const std::uint32_t parent = side.choices[choice_[std::size_t{tree} * nodes_ + *node]].parent;
      depth[parent] = distance[parent];
    }
  }
}

/// Trees one after the other, each within its part of `budget` where that is possible.
void Packer::grow(std::uint64_t seed, std::int64_t budget) {
  Rng rng(seed);
  const auto trees = static_cast<std::int64_t>(roots_.size());
  // Both sides of a tree before the next tree.
  for (std::int64_t root = 0; root < trees; ++root) {
    const auto share = static_cast<std::int64_t>(Int128{budget} * (root + 1) / trees);
    for (std::size_t side = 0; side < sides_.size(); ++side) {
      grow_tree(
          static_cast<std::uint32_t>(root + static_cast<std::int64_t>(side) * trees), share, rng);
    }
  }
}

void Packer::grow_tree(std::uint32_t tree, std::int64_t budget, Rng& rng) {
  struct Growth {
    /// What the busiest link has to do beyond the budget, then the depth, then chance.
    std::int64_t beyond = 0;
    std::int64_t depth = 0;
    std::uint64_t chance = 0;
    std::uint32_t node = 0;
    std::uint32_t choice = 0;
    auto operator<=>(const Growth&) const = default;
  };
  const Side& side = sides_[side_of(tree)];
  std::uint32_t* const choice = &choice_[std::size_t{tree} * nodes_];
  std::int64_t* const depth = &depth_[std::size_t{tree} * nodes_];
  const auto beyond = [&](std::uint32_t hop) {
    std::int64_t longest = 0;
    for (const LinkId link : fabric_.links(hop)) {
      const std::uint32_t r = resource(link.value());
      longest = std::max(longest, time_of(r) + costs_.busy(r));
    }
    return std::max<std::int64_t>(0, longest - budget);
  };
  std::priority_queue<Growth, std::vector<Growth>, std::greater<>> queue;
  const auto reach_from = [&](std::uint32_t node) {
    for (std::uint32_t k = side.kid_first[node]; k < side.kid_first[node + 1]; ++k) {
      const auto [kid, by] = side.kids[k];
      if (depth[kid] == kOutside) {
        const std::uint32_t hop = side.choices[by].hop;
        queue.push({beyond(hop), depth[node] + costs_.arrival(hop), rng.next(), kid, by});
      }
    }
  };
  depth[root_of(tree)] = 0;
  std::size_t missing = job_.participants.size() - (job_.takes_part[root_of(tree)] ? 1 : 0);
  reach_from(root_of(tree));
  while (missing > 0 && !queue.empty()) {
    Growth next = queue.top();
    queue.pop();
    if (depth[next.node] != kOutside) {
      continue;
    }
    const std::uint32_t hop = side.choices[next.choice].hop;
    // The tree itself may have loaded the links since.
    if (const std::int64_t now = beyond(hop); now > next.beyond) {
      next.beyond = now;
      queue.push(next);
      continue;
    }
    choice[next.node] = next.choice;
    depth[next.node] = next.depth;
    limit_[side_of(tree)] = std::max(limit_[side_of(tree)], next.depth);
    add_load(hop, 1);
    missing -= job_.takes_part[next.node] ? 1 : 0;
    reach_from(next.node);
  }
  prune(tree);
}

/// Takes out of a tree who takes no part and passes nothing on.
void Packer::prune(std::uint32_t tree) {
  const Side& side = sides_[side_of(tree)];
  std::uint32_t* const choice = &choice_[std::size_t{tree} * nodes_];
  std::vector<std::uint32_t> kids(nodes_, 0);
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    if (choice[node] != kNone) {
      ++kids[side.choices[choice[node]].parent];
    }
  }
  for (std::uint32_t node = 0; node < nodes_; ++node) {
    for (std::uint32_t at = node; choice[at] != kNone && kids[at] == 0 && !job_.takes_part[at];) {
      const auto [parent, hop] = side.choices[std::exchange(choice[at], kNone)];
      depth_[std::size_t{tree} * nodes_ + at] = kOutside;
      add_load(hop, -1);
      --kids[parent];
      at = parent;
    }
  }
}

}  // namespace tacos::trees
