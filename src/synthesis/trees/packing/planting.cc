// SPDX-License-Identifier: MIT
// Planted: shortest ways from the root, over the least loaded hops among equals. Shallow, and
// on networks without bottlenecks exchanges make the loads even.
//
// Grown: one NPU after the other, nearest first, but never over a link that would carry more than
// its share of a period by then while there is another way. Where a few slow links join fast parts
// of a network, shortest ways all begin at the root's own link, and no exchange of one edge at a
// time gets away from that.
#include "synthesis/trees/packing/planting.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/numbers/rng.h"
#include "base/numbers/wide.h"
#include "base/parallel/cancel.h"
#include "synthesis/trees/packing/roots.h"

namespace tacos::trees {
namespace {

/// Up to so many NPUs are hung in order of their distance from the root.
constexpr std::uint32_t kMostOrdered = 1024;

/// Hangs a node by the hop that is least loaded of those on a shortest way.
void hang_nearest(Forest& forest,
                  std::uint32_t tree,
                  std::uint32_t node,
                  std::span<const std::int64_t> distance,
                  Rng& rng) {
  const Side& side = forest.side(tree);
  const std::uint32_t root = forest.root_of(tree);
  std::uint32_t& choice = forest.choices(tree)[node];
  std::tuple<bool, std::int64_t, std::uint64_t> best_key;
  for (std::uint32_t c = side.first[node]; c < side.first[node + 1]; ++c) {
    const auto [parent, hop] = side.choices[c];
    const bool fits = forest.is_partner(tree, node)
                          ? parent == root
                          : distance[parent] + forest.costs().arrival(hop) == distance[node];
    if (!fits) {
      continue;
    }
    // A way that is in the tree anyway costs less than a new one.
    const bool apart = forest.depths(tree)[parent] == Forest::kOutside;
    const std::tuple key{apart, forest.time_over(hop), rng.next()};
    if (choice == kNone || key < best_key) {
      best_key = key;
      choice = c;
    }
  }
  forest.add_load(side.choices[choice].hop, 1);
  forest.raise_limit(tree, distance[node]);
}

void plant_tree(Forest& forest, std::uint32_t tree, Rng& rng) {
  const Side& side = forest.side(tree);
  const std::uint32_t root = forest.root_of(tree);
  const auto depth = forest.depths(tree);
  std::vector<std::int64_t> distance;
  std::vector<std::uint32_t> top(1, root);
  if (!forest.partners().empty()) {
    top.push_back(forest.partners()[tree]);
  }
  distances(forest.fabric(), forest.costs().arrivals(), top, !side.out_tree, distance);
  depth[root] = 0;
  std::vector<std::uint32_t> order(forest.num_nodes());
  std::iota(order.begin(), order.end(), 0U);
  // Which node comes first decides nothing but what is loaded first: on large networks those that
  // lie together in memory.
  if (!forest.job().everybody() || forest.num_nodes() <= kMostOrdered) {
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(distance[a], a) < std::pair(distance[b], b);
    });
  }
  if (forest.job().everybody()) {
    for (std::uint32_t node = 0; node < forest.num_nodes(); ++node) {
      depth[node] = distance[node];
    }
    for (const std::uint32_t node : order) {
      if (node != root) {
        hang_nearest(forest, tree, node, distance, rng);
      }
    }
    return;
  }
  // From the far end: by then it is known who needs an NPU that takes no part itself.
  for (const std::uint32_t participant : forest.job().participants) {
    depth[participant] = distance[participant];
  }
  for (auto node = order.rbegin(); node != order.rend(); ++node) {
    if (*node != root && depth[*node] != Forest::kOutside) {
      hang_nearest(forest, tree, *node, distance, rng);
      const std::uint32_t parent = side.choices[forest.choices(tree)[*node]].parent;
      depth[parent] = distance[parent];
    }
  }
}

/// Grows one tree after the other; room for what is being grown is taken once.
class Grower {
 public:
  Grower(Forest& forest, std::uint64_t seed)
      : forest_(forest), rng_(seed), best_(forest.num_nodes()) {}

  void grow_tree(std::uint32_t tree, std::int64_t budget) {
    budget_ = budget;
    tree_ = tree;
    chance_.resize(std::max(chance_.size(), forest_.side(tree).choices.size()));
    std::fill(best_.begin(), best_.end(), Growth{});
    queue_.clear();
    const std::uint32_t root = forest_.root_of(tree);
    const auto depth = forest_.depths(tree);
    depth[root] = 0;
    std::size_t missing =
        forest_.job().participants.size() - (forest_.job().takes_part[root] ? 1 : 0);
    reach_from(root);
    check_cancel();
    while (missing > 0 && !queue_.empty()) {
      const Growth next = pop();
      if (depth[next.node] != Forest::kOutside || next != best_[next.node]) {
        continue;
      }
      const std::uint32_t hop = forest_.side(tree).choices[next.choice].hop;
      // The tree itself may have loaded the links since.
      if (beyond(hop) > next.beyond) {
        choose_again(next.node);
        continue;
      }
      forest_.choices(tree)[next.node] = next.choice;
      depth[next.node] = next.depth;
      forest_.raise_limit(tree, next.depth);
      forest_.add_load(hop, 1);
      missing -= forest_.job().takes_part[next.node] ? 1 : 0;
      reach_from(next.node);
    }
    forest_.prune(tree);
  }

 private:
  /// A way to hang a node on the tree: what the busiest link has to do beyond the budget, then the
  /// depth, then chance.
  struct Growth {
    std::int64_t beyond = Forest::kOutside;
    std::int64_t depth = 0;
    std::uint64_t chance = 0;
    std::uint32_t node = 0;
    std::uint32_t choice = kNone;
    auto operator<=>(const Growth&) const = default;
  };

  [[nodiscard]] std::int64_t beyond(std::uint32_t hop) const {
    return std::max<std::int64_t>(0, forest_.time_over(hop) - budget_);
  }
  /// Takes the way if it is better than `best`.
  void weigh(std::uint32_t node, std::uint32_t choice, Growth& best) const {
    const auto [parent, hop] = forest_.side(tree_).choices[choice];
    Growth way{.beyond = 0,
               .depth = forest_.depths(tree_)[parent] + forest_.costs().arrival(hop),
               .chance = chance_[choice],
               .node = node,
               .choice = choice};
    // Most are not, whatever their links have to do.
    if (way < best) {
      way.beyond = beyond(hop);
      best = std::min(best, way);
    }
  }

  /// What can hang on a node that has just been hung up itself.
  void reach_from(std::uint32_t node) {
    const auto depth = forest_.depths(tree_);
    for (const auto& [kid, by] : forest_.side(tree_).kids[node]) {
      if (depth[kid] == Forest::kOutside) {
        chance_[by] = rng_.next();
        // Ways only become worse, so the best that was seen of a node is no worse than any it has.
        const std::uint32_t before = best_[kid].choice;
        weigh(kid, by, best_[kid]);
        if (best_[kid].choice != before) {
          push(best_[kid]);
        }
      }
    }
  }
  void push(const Growth& way) {
    queue_.push_back(way);
    std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
  }
  Growth pop() {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    const Growth next = queue_.back();
    queue_.pop_back();
    return next;
  }
  /// The best way of a node has become worse: looks at all that it has.
  void choose_again(std::uint32_t node) {
    const Side& side = forest_.side(tree_);
    const auto depth = forest_.depths(tree_);
    best_[node] = {};
    for (std::uint32_t c = side.first[node]; c < side.first[node + 1]; ++c) {
      if (depth[side.choices[c].parent] != Forest::kOutside) {
        weigh(node, c, best_[node]);
      }
    }
    push(best_[node]);
  }

  Forest& forest_;
  Rng rng_;
  std::uint32_t tree_ = 0;
  std::int64_t budget_ = 0;
  /// By choice, of those whose parent is in the tree.
  std::vector<std::uint64_t> chance_;
  /// By node, the best way that was seen; a heap of those, with some that are not any more.
  std::vector<Growth> best_;
  std::vector<Growth> queue_;
};

}  // namespace

void plant(Forest& forest, std::uint64_t seed) {
  Rng rng(seed);
  for (std::uint32_t tree = 0; tree < forest.num_trees(); ++tree) {
    plant_tree(forest, tree, rng);
  }
}

void grow(Forest& forest, std::uint64_t seed, std::int64_t budget) {
  Grower grower(forest, seed);
  const std::uint32_t roots = forest.num_roots();
  // Both sides of a tree before the next tree.
  for (std::uint32_t root = 0; root < roots; ++root) {
    const auto part = static_cast<std::int64_t>(Int128{budget} * (root + 1) / roots);
    for (std::uint32_t side = 0; side < forest.num_sides(); ++side) {
      grower.grow_tree(root + side * roots, part);
    }
  }
}

}  // namespace tacos::trees
