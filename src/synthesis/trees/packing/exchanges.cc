// SPDX-License-Identifier: MIT
// Packing by augmenting paths.
//
// Every tree starts as a shortest-path tree, ties broken towards the least loaded hop, so depth
// is minimal and load is not. Then the load of the busiest hops is lowered, one unit after the
// other: in a tree that uses hop r for node v, v (with all below it) can hang on another
// neighbour over hop r', which moves one unit of load from r to r'; r' may move it on in
// another tree, until a hop with room is found. Breadth-first search over hops finds the
// shortest such chain; it is the augmenting path of matroid union (Edmonds 1965), restricted to
// exchanges at v itself, and to those that keep the tree's depth within a limit. When no chain
// exists the limit is raised a little. Of all states on the way the one with the best
// rounds * period + depth is kept.
//
// The last exchange of a chain is always valid; those before are checked again in the state that it
// leaves, and if one has become invalid the chain is cut there: trees stay trees, and the hole has
// come nearer.
//
// Cost: a search visits each hop once and looks at every tree's choice at its two ends,
// O(hops * trees * degree) at most; on the networks tried a chain has one to four exchanges and
// a search sees a few dozen hops. 8x8 mesh, 16 trees: a perfect packing (each hop 9 times)
// at the least possible depth in 1 ms.
#include "synthesis/trees/packing/exchanges.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tacos::trees {
namespace {

/// Bounds the work per search and per look at a subtree that is turned round; only large networks
/// meet them.
constexpr std::size_t kMaxSearched = 4096;
constexpr std::size_t kMaxTurned = 128;

/// Calls add(link, node, hops) for the ends of the hops through each link.
template <class EndOf, class Add>
void for_each_end(const Fabric& fabric, const EndOf& end_of, const Add& add) {
  std::vector<std::uint32_t> order;
  std::vector<std::int64_t> hops(fabric.num_nodes(), 0);
  for (std::uint32_t link = 0; link < fabric.num_links(); ++link) {
    order.clear();
    for (const std::uint32_t hop : fabric.through(link)) {
      if (hops[end_of(hop)]++ == 0) {
        order.push_back(end_of(hop));
      }
    }
    for (const std::uint32_t node : order) {
      add(link, node, std::exchange(hops[node], 0));
    }
  }
}

}  // namespace

Exchanges::Exchanges(Forest& forest, std::int64_t work)
    : forest_(forest),
      fabric_(forest.fabric()),
      work_left_(forest.fabric().direct() ? kMaxTime.ps : work) {
  seen_.assign(forest.num_resources(), 0);
  step_.resize(forest.num_resources());
  below_at_.assign(forest.num_nodes(), kNone);
  height_.resize(std::size_t{forest.num_nodes()} * forest.num_trees());
  choice_of_hop_.assign(fabric_.num_hops(), kNone);
  const Side& side = forest.side(0);
  for (std::uint32_t c = 0; c < side.choices.size(); ++c) {
    choice_of_hop_[side.choices[c].hop] = c;
  }
  const auto ends = [&](const auto& end_of) {
    return Csr<End>(fabric_.num_links(), [&](const auto& add) {
      for_each_end(fabric_, end_of, [&](std::uint32_t link, std::uint32_t node, std::int64_t hops) {
        add(link, End{node, hops});
      });
    });
  };
  targets_ = ends([&](std::uint32_t hop) { return fabric_.target(hop); });
  sources_ = ends([&](std::uint32_t hop) { return fabric_.source(hop); });
  for (std::uint32_t s = 0; s < forest.num_sides() && fabric_.direct(); ++s) {
    direct_.emplace_back(forest, forest.side(s * forest.num_roots()));
  }
}

template <class Visit>
void Exchanges::for_each_kid(std::uint32_t tree, std::uint32_t node, const Visit& visit) const {
  if (!fabric_.direct()) {
    kids_.for_each(tree, node, visit);
    return;
  }
  const auto choice = std::as_const(forest_).choices(tree);
  for (const auto& [kid, by] : forest_.side(tree).kids[node]) {
    if (choice[kid] == by) {
      visit(kid);
    }
  }
}

void Exchanges::push_kids(std::uint32_t tree, std::uint32_t node) {
  for_each_kid(tree, node, [&](std::uint32_t kid) { stack_.push_back(kid); });
}

void Exchanges::set_choice(std::uint32_t tree, std::uint32_t node, std::uint32_t choice) {
  const Side& side = forest_.side(tree);
  const std::uint32_t old = std::exchange(forest_.choices(tree)[node], choice);
  if (!fabric_.direct()) {
    kids_.remove(tree, side.choices[old].parent, node);
    kids_.add(tree, side.choices[choice].parent, node);
  }
}

/// How far below each node of a tree the deepest one is.
void Exchanges::measure_tree(std::uint32_t tree) {
  const auto depth = forest_.depths(tree);
  const auto below = heights(tree);
  stack_.assign(1, forest_.root_of(tree));
  for (std::size_t i = 0; i < stack_.size(); ++i) {
    below[stack_[i]] = 0;
    push_kids(tree, stack_[i]);
  }
  const Side& side = forest_.side(tree);
  for (std::size_t i = stack_.size(); i-- > 1;) {
    const std::uint32_t parent = side.choices[forest_.choices(tree)[stack_[i]]].parent;
    below[parent] = std::max(below[parent], below[stack_[i]] + depth[stack_[i]] - depth[parent]);
  }
}

/// Of a node, from what its kids say.
std::int64_t Exchanges::height_by_kids(std::uint32_t tree, std::uint32_t node) const {
  const Side& side = forest_.side(tree);
  const auto choice = forest_.choices(tree);
  const auto below = heights(tree);
  std::int64_t highest = 0;
  for_each_kid(tree, node, [&](std::uint32_t kid) {
    const std::uint32_t hop = side.choices[choice[kid]].hop;
    highest = std::max(highest, below[kid] + forest_.costs().arrival(hop));
  });
  return highest;
}

/// Corrects heights after something left `from`, and something that is `height` high was hung on
/// `to`.
void Exchanges::correct_heights(std::uint32_t tree,
                                std::uint32_t from,
                                std::uint32_t to,
                                std::int64_t height) {
  const Side& side = forest_.side(tree);
  const auto choice = forest_.choices(tree);
  const auto below = heights(tree);
  for (std::uint32_t node = from;;) {
    const std::int64_t left = height_by_kids(tree, node);
    if (below[node] == left) {
      break;
    }
    below[node] = left;
    if (choice[node] == kNone) {
      break;
    }
    node = side.choices[choice[node]].parent;
  }
  for (std::uint32_t node = to; below[node] < height;) {
    below[node] = height;
    if (choice[node] == kNone) {
      break;
    }
    const auto [parent, hop] = side.choices[choice[node]];
    height += forest_.costs().arrival(hop);
    node = parent;
  }
}

bool Exchanges::can_hang(std::uint32_t tree, std::uint32_t node, std::uint32_t choice) {
  const auto [parent, hop] = forest_.side(tree).choices[choice];
  const auto depth = forest_.depths(tree);
  const std::int64_t new_depth = depth[parent] + forest_.costs().arrival(hop);
  if (new_depth > forest_.limit(tree) || forest_.has_above(tree, parent, node)) {
    return false;
  }
  return new_depth + heights(tree)[node] <= forest_.limit(tree);
}

void Exchanges::hang(std::uint32_t tree, std::uint32_t node, std::uint32_t choice) {
  const Side& side = forest_.side(tree);
  const auto depth = forest_.depths(tree);
  const auto [old_parent, old_hop] = side.choices[forest_.choices(tree)[node]];
  forest_.add_load(old_hop, -1);
  set_choice(tree, node, choice);
  const auto [parent, hop] = side.choices[choice];
  forest_.add_load(hop, 1);
  const std::int64_t deeper = depth[parent] + forest_.costs().arrival(hop) - depth[node];
  correct_heights(tree, old_parent, parent, heights(tree)[node] + forest_.costs().arrival(hop));
  if (deeper == 0) {
    return;
  }
  stack_.assign(1, node);
  while (!stack_.empty()) {
    const std::uint32_t below = stack_.back();
    stack_.pop_back();
    depth[below] += deeper;
    push_kids(tree, below);
  }
}

/// What stands in the way of using `other` instead of `hop` to relieve a resource.
std::uint32_t Exchanges::obstacle(std::uint32_t relieved,
                                  std::uint32_t hop,
                                  std::uint32_t other) const {
  std::uint32_t full = kClear;
  for (const std::uint32_t r : forest_.resources(other)) {
    if (r == relieved) {
      return kBlocked;
    }
    if (has_room(r) || forest_.uses(hop, r)) {
      continue;
    }
    if (full != kClear || seen_[r] == stamp_) {
      return kBlocked;
    }
    full = r;
  }
  return full;
}

/// Takes note of an exchange that fills `next` beyond its room; true when it fills nothing.
bool Exchanges::visit(const Exchange& exchange, std::uint32_t next) {
  if (next == kClear) {
    last_ = exchange;
    return true;
  }
  seen_[next] = stamp_;
  step_[next] = exchange;
  queue_.push_back(next);
  return false;
}

/// Lists the subtree into below_; false when it is too large.
bool Exchanges::list_below(std::uint32_t tree, std::uint32_t node) {
  const Side& side = forest_.side(0);
  const auto choice = forest_.choices(tree);
  for (const Below& old : below_) {
    below_at_[old.node] = kNone;
  }
  below_.assign(1, {.node = node});
  below_at_[node] = 0;
  for (std::uint32_t i = 0; i < below_.size(); ++i) {
    const std::uint32_t at = below_[i].node;
    for (const auto& [kid, by] : side.kids[at]) {
      if (choice[kid] == by) {
        below_at_[kid] = static_cast<std::uint32_t>(below_.size());
        below_.push_back({.node = kid,
                          .parent = i,
                          .above_cost = forest_.costs().arrival(side.choices[by].hop)});
      }
    }
    if (below_.size() > kMaxTurned) {
      return false;
    }
  }
  for (std::size_t i = below_.size(); i-- > 1;) {
    Below& parent = below_[below_[i].parent];
    const std::int64_t reach = below_[i].deepest + below_[i].above_cost;
    parent.second = std::max(parent.second, std::min(parent.deepest, reach));
    parent.deepest = std::max(parent.deepest, reach);
  }
  for (std::size_t i = 1; i < below_.size(); ++i) {
    const Below& parent = below_[below_[i].parent];
    const bool on_deepest = parent.deepest == below_[i].deepest + below_[i].above_cost;
    below_[i].outside = below_[i].above_cost +
                        std::max(parent.outside, on_deepest ? parent.second : parent.deepest);
  }
  return true;
}

/// Looks at what `node` of `tree` could hang on instead; true when that leads to an end.
bool Exchanges::expand_node(std::uint32_t r, std::uint32_t tree, std::uint32_t node) {
  const Side& side = forest_.side(tree);
  const std::uint32_t current = forest_.choices(tree)[node];
  looked_at_ = 0;
  if (current == kNone || forest_.is_partner(tree, node) ||
      !forest_.uses(side.choices[current].hop, r)) {
    return false;
  }
  const std::uint32_t hung_by = side.choices[current].hop;
  if (!turning_) {
    looked_at_ = side.first[node + 1] - side.first[node];
    for (std::uint32_t c = side.first[node]; c < side.first[node + 1]; ++c) {
      const std::uint32_t next = obstacle(r, hung_by, side.choices[c].hop);
      if (next != kBlocked && can_hang(tree, node, c) && visit({r, tree, node, node, c}, next)) {
        return true;
      }
    }
    return false;
  }
  if (!list_below(tree, node)) {
    return false;
  }
  for (const Below& by : below_) {
    looked_at_ += side.first[by.node + 1] - side.first[by.node];
    const std::int64_t allowed = forest_.limit(0) - std::max(by.deepest, by.outside);
    for (std::uint32_t c = side.first[by.node]; c < side.first[by.node + 1]; ++c) {
      const auto [parent, hop] = side.choices[c];
      const std::int64_t depth = forest_.depths(tree)[parent] + forest_.costs().arrival(hop);
      if (depth > allowed || below_at_[parent] != kNone) {
        continue;
      }
      const std::uint32_t next = obstacle(r, hung_by, hop);
      if (next != kBlocked && visit({r, tree, node, by.node, c}, next)) {
        return true;
      }
    }
  }
  return false;
}

/// Each node once, but at the price of a look for each of its hops: what the first look does not
/// find the others do not either, and budgets were set when they looked.
bool Exchanges::expand_ends(std::uint32_t r, std::uint32_t tree, std::span<const End> ends) {
  for (const auto& [node, hops] : ends) {
    const bool found = expand_node(r, tree, node);
    work_left_ -= found ? looked_at_ : hops * looked_at_;
    if (found) {
      return true;
    }
  }
  return false;
}

/// What `node`, which hangs over the resource `r`, could hang on instead.
bool Exchanges::expand_direct_node(std::uint32_t r, std::uint32_t tree, std::uint32_t node) {
  if (forest_.is_partner(tree, node)) {
    return false;
  }
  const Side& side = forest_.side(tree);
  const DirectUses& uses = direct_[tree < forest_.num_roots() ? 0 : 1];
  for (std::uint32_t c = side.first[node]; c < side.first[node + 1]; ++c) {
    // What has been seen, like `r` itself, has no room.
    const std::uint32_t other = uses.resource(c);
    if (seen_[other] != stamp_ && can_hang(tree, node, c) &&
        visit({r, tree, node, node, c}, has_room(other) ? kClear : other)) {
      return true;
    }
  }
  return false;
}

/// What `expand` does where every hop is one resource, and without turning: most of what is to be
/// done on large networks.
bool Exchanges::expand_direct(std::uint32_t r) {
  const std::uint32_t roots = forest_.num_roots();
  for (std::uint32_t s = 0; s < direct_.size(); ++s) {
    const auto [one, other] = direct_[s].users(r);
    const std::uint32_t first = s * roots;
    const std::uint32_t* const of_one = forest_.choices_at(one.node).data() + first;
    const std::uint32_t* const of_other = forest_.choices_at(other.node).data() + first;
    for (std::uint32_t i = 0; i < roots; ++i) {
      if ((of_one[i] == one.choice && expand_direct_node(r, first + i, one.node)) ||
          (of_other[i] == other.choice && expand_direct_node(r, first + i, other.node))) {
        return true;
      }
    }
  }
  return false;
}

bool Exchanges::expand(std::uint32_t r) {
  if (fabric_.direct() && !turning_) {
    return expand_direct(r);
  }
  for (std::uint32_t tree = 0; tree < forest_.num_trees() && work_left_ > 0; ++tree) {
    // In an out-tree a hop hangs its target, in an in-tree its source; a twin pair either.
    const bool out_tree = forest_.side(tree).out_tree;
    if (expand_ends(r, tree, out_tree ? targets_[r] : sources_[r]) ||
        (forest_.paired() && expand_ends(r, tree, targets_[fabric_.twin_link(r)]))) {
      return true;
    }
  }
  return false;
}

/// Whether a shortest chain of exchanges that begins at the resource ends somewhere, in last_.
bool Exchanges::find_room(std::uint32_t overloaded) {
  ++stamp_;
  seen_[overloaded] = stamp_;
  step_[overloaded] = {};
  queue_.assign(1, overloaded);
  for (std::size_t next = 0; next < std::min(queue_.size(), kMaxSearched); ++next) {
    if (expand(queue_[next])) {
      return true;
    }
  }
  return false;
}

bool Exchanges::still_valid(const Exchange& exchange) {
  const Side& side = forest_.side(exchange.tree);
  const std::uint32_t current = forest_.choices(exchange.tree)[exchange.node];
  if (current == kNone || !forest_.uses(side.choices[current].hop, exchange.from)) {
    return false;
  }
  if (!turning_) {
    return can_hang(exchange.tree, exchange.node, exchange.choice);
  }
  const auto [parent, hop] = side.choices[exchange.choice];
  if (!list_below(exchange.tree, exchange.node) || below_at_[exchange.target] == kNone ||
      below_at_[parent] != kNone) {
    return false;
  }
  const Below& by = below_[below_at_[exchange.target]];
  return forest_.depths(exchange.tree)[parent] + forest_.costs().arrival(hop) +
             std::max(by.deepest, by.outside) <=
         forest_.limit(0);
}

/// Hangs the subtree by another of its nodes: the way between the two is turned round.
void Exchanges::hang_by(const Exchange& exchange) {
  const Side& side = forest_.side(0);
  const auto choice = forest_.choices(exchange.tree);
  const auto depth = forest_.depths(exchange.tree);
  forest_.add_load(side.choices[choice[exchange.node]].hop, -1);
  forest_.add_load(side.choices[exchange.choice].hop, 1);
  std::uint32_t by = exchange.choice;
  std::uint32_t old_parent = kNone;
  turned_.clear();
  for (std::uint32_t node = exchange.target;;) {
    const auto [parent, hop] = side.choices[choice[node]];
    set_choice(exchange.tree, node, by);
    turned_.push_back(node);
    if (node == exchange.node) {
      old_parent = parent;
      break;
    }
    node = parent;
    by = choice_of_hop_[fabric_.twin(hop)];
  }
  stack_.assign(1, exchange.target);
  while (!stack_.empty()) {
    const std::uint32_t node = stack_.back();
    stack_.pop_back();
    const auto [parent, hop] = side.choices[choice[node]];
    depth[node] = depth[parent] + forest_.costs().arrival(hop);
    push_kids(exchange.tree, node);
  }
  for (auto node = turned_.rbegin(); node != turned_.rend(); ++node) {
    heights(exchange.tree)[*node] = height_by_kids(exchange.tree, *node);
  }
  const auto [parent, hop] = side.choices[exchange.choice];
  correct_heights(exchange.tree,
                  old_parent,
                  parent,
                  heights(exchange.tree)[exchange.target] + forest_.costs().arrival(hop));
}

/// Takes one tree off the resource; false when there is no way to.
bool Exchanges::relieve(std::uint32_t overloaded) {
  turning_ = false;
  bool found = find_room(overloaded);
  if (!found && forest_.paired()) {
    turning_ = true;
    found = find_room(overloaded);
  }
  if (!found) {
    return false;
  }
  for (Exchange step = last_; step.from != kNone && still_valid(step); step = step_[step.from]) {
    if (turning_) {
      hang_by(step);
    } else {
      hang(step.tree, step.node, step.choice);
    }
  }
  return true;
}

bool Exchanges::lower(std::int64_t target) {
  target_ = target;
  if (!measured_ || !forest_.job().everybody()) {
    // Whoever is not needed may have been taken out of the trees since.
    if (!fabric_.direct()) {
      kids_.read(forest_);
    }
    for (std::uint32_t tree = 0; tree < forest_.num_trees(); ++tree) {
      measure_tree(tree);
    }
    measured_ = true;
  }
  // Every search that succeeds fills room for good, so this ends; the limit is for cut chains that
  // only move the hole.
  std::int64_t searches = 64 * static_cast<std::int64_t>(forest_.num_resources()) + 1024;
  for (std::uint32_t r = 0; r < forest_.num_resources(); ++r) {
    while (forest_.time_of(r) > target) {
      if (--searches < 0 || !relieve(r)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace tacos::trees
