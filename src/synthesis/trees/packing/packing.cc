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
#include "synthesis/trees/packing/packing.h"

#include <algorithm>
#include <utility>

#include "base/numbers/rng.h"
#include "base/numbers/wide.h"
#include "synthesis/trees/packing/packer.h"
#include "synthesis/trees/packing/roots.h"

namespace tacos::trees {
namespace {

/// Bounds the work per search and per look at a subtree; only large networks meet them.
constexpr std::size_t kMaxSearched = 4096;
constexpr std::size_t kMaxSubtree = 1024;
constexpr std::size_t kMaxTurned = 128;

}  // namespace

std::int64_t Packer::longest_time() const {
  std::int64_t longest = 0;
  for (std::uint32_t r = 0; r < load_.size(); ++r) {
    longest = std::max(longest, time_of(r));
  }
  return longest;
}

bool Packer::has_above(std::uint32_t tree, std::uint32_t node, std::uint32_t above) const {
  const Side& side = sides_[side_of(tree)];
  const std::uint32_t* const choice = &choice_[std::size_t{tree} * nodes_];
  const std::int64_t* const depth = &depth_[std::size_t{tree} * nodes_];
  while (depth[node] > depth[above]) {
    node = side.choices[choice[node]].parent;
  }
  return node == above;
}

void Packer::push_kids(std::uint32_t tree, std::uint32_t node) {
  const Side& side = sides_[side_of(tree)];
  const std::uint32_t* const choice = &choice_[std::size_t{tree} * nodes_];
  for (std::uint32_t k = side.kid_first[node]; k < side.kid_first[node + 1]; ++k) {
    if (choice[side.kids[k].node] == side.kids[k].choice) {
      stack_.push_back(side.kids[k].node);
    }
  }
}

bool Packer::subtree_fits(std::uint32_t tree, std::uint32_t node, std::int64_t deeper) {
  const std::int64_t allowed = limit_[side_of(tree)] - deeper;
  stack_.assign(1, node);
  for (std::size_t looked_at = 0; !stack_.empty(); ++looked_at) {
    const std::uint32_t below = stack_.back();
    stack_.pop_back();
    if (depth_[std::size_t{tree} * nodes_ + below] > allowed || looked_at == kMaxSubtree) {
      return false;
    }
    push_kids(tree, below);
  }
  return true;
}

bool Packer::can_hang(std::uint32_t tree, std::uint32_t node, std::uint32_t choice) {
  const auto [parent, hop] = sides_[side_of(tree)].choices[choice];
  const std::int64_t* const depth = &depth_[std::size_t{tree} * nodes_];
  const std::int64_t new_depth = depth[parent] + costs_.arrival(hop);
  if (new_depth > limit_[side_of(tree)] || has_above(tree, parent, node)) {
    return false;
  }
  return new_depth <= depth[node] || subtree_fits(tree, node, new_depth - depth[node]);
}

void Packer::hang(std::uint32_t tree, std::uint32_t node, std::uint32_t choice) {
  const Side& side = sides_[side_of(tree)];
  std::uint32_t& current = choice_[std::size_t{tree} * nodes_ + node];
  std::int64_t* const depth = &depth_[std::size_t{tree} * nodes_];
  add_load(side.choices[current].hop, -1);
  current = choice;
  const auto [parent, hop] = side.choices[choice];
  add_load(hop, 1);
  const std::int64_t deeper = depth[parent] + costs_.arrival(hop) - depth[node];
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
std::uint32_t Packer::obstacle(std::uint32_t relieved,
                               std::uint32_t hop,
                               std::uint32_t other) const {
  std::uint32_t full = kClear;
  for (const LinkId link : fabric_.links(other)) {
    const std::uint32_t r = resource(link.value());
    if (r == relieved) {
      return kBlocked;
    }
    if (has_room(r) || uses(hop, r)) {
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
bool Packer::visit(const Exchange& exchange, std::uint32_t next) {
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
bool Packer::list_below(std::uint32_t tree, std::uint32_t node) {
  const Side& side = sides_[0];
  const std::uint32_t* const choice = &choice_[std::size_t{tree} * nodes_];
  for (const Below& old : below_) {
    below_at_[old.node] = kNone;
  }
  below_.assign(1, {.node = node});
  below_at_[node] = 0;
  for (std::uint32_t i = 0; i < below_.size(); ++i) {
    const std::uint32_t at = below_[i].node;
    for (std::uint32_t k = side.kid_first[at]; k < side.kid_first[at + 1]; ++k) {
      const auto [kid, by] = side.kids[k];
      if (choice[kid] == by) {
        below_at_[kid] = static_cast<std::uint32_t>(below_.size());
        below_.push_back(
            {.node = kid, .parent = i, .above_cost = costs_.arrival(side.choices[by].hop)});
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
bool Packer::expand_node(std::uint32_t r, std::uint32_t tree, std::uint32_t node) {
  const Side& side = sides_[side_of(tree)];
  const std::uint32_t current = choice_[std::size_t{tree} * nodes_ + node];
  if (current == kNone || is_partner(tree, node) || !uses(side.choices[current].hop, r)) {
    return false;
  }
  const std::uint32_t hung_by = side.choices[current].hop;
  if (!turning_) {
    work_left_ -= side.first[node + 1] - side.first[node];
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
    work_left_ -= side.first[by.node + 1] - side.first[by.node];
    const std::int64_t allowed = limit_[0] - std::max(by.deepest, by.outside);
    for (std::uint32_t c = side.first[by.node]; c < side.first[by.node + 1]; ++c) {
      const auto [parent, hop] = side.choices[c];
      const std::int64_t depth = depth_[std::size_t{tree} * nodes_ + parent] + costs_.arrival(hop);
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

bool Packer::expand(std::uint32_t r) {
  for (std::uint32_t tree = 0; tree < num_trees() && work_left_ > 0; ++tree) {
    // In an out-tree a hop hangs its target, in an in-tree its source; a twin pair either.
    const bool out_tree = sides_[side_of(tree)].out_tree;
    for (const std::uint32_t hop : fabric_.through(r)) {
      if (expand_node(r, tree, out_tree ? fabric_.target(hop) : fabric_.source(hop))) {
        return true;
      }
    }
    if (paired_) {
      for (const std::uint32_t hop : fabric_.through(fabric_.twin_link(r))) {
        if (expand_node(r, tree, fabric_.target(hop))) {
          return true;
        }
      }
    }
  }
  return false;
}

/// Whether a shortest chain of exchanges that begins at the resource ends somewhere, in last_.
bool Packer::find_room(std::uint32_t overloaded) {
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

bool Packer::still_valid(const Exchange& exchange) {
  const Side& side = sides_[side_of(exchange.tree)];
  const std::uint32_t current = choice_[std::size_t{exchange.tree} * nodes_ + exchange.node];
  if (current == kNone || !uses(side.choices[current].hop, exchange.from)) {
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
  return depth_[std::size_t{exchange.tree} * nodes_ + parent] + costs_.arrival(hop) +
             std::max(by.deepest, by.outside) <=
         limit_[0];
}

/// Hangs the subtree by another of its nodes: the way between the two is turned round.
void Packer::hang_by(const Exchange& exchange) {
  const Side& side = sides_[0];
  std::uint32_t* const choice = &choice_[std::size_t{exchange.tree} * nodes_];
  std::int64_t* const depth = &depth_[std::size_t{exchange.tree} * nodes_];
  add_load(side.choices[choice[exchange.node]].hop, -1);
  add_load(side.choices[exchange.choice].hop, 1);
  std::uint32_t by = exchange.choice;
  for (std::uint32_t node = exchange.target;;) {
    const auto [parent, hop] = side.choices[std::exchange(choice[node], by)];
    if (node == exchange.node) {
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
    depth[node] = depth[parent] + costs_.arrival(hop);
    push_kids(exchange.tree, node);
  }
}

/// Takes one tree off the resource; false when there is no way to.
bool Packer::relieve(std::uint32_t overloaded) {
  turning_ = false;
  bool found = find_room(overloaded);
  if (!found && paired_) {
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

/// Makes no hop busy for longer than `target`; false when that fails, trees still valid.
bool Packer::lower(std::int64_t target) {
  target_ = target;
  // Every search that succeeds fills room for good, so this ends; the limit is for cut chains that
  // only move the hole.
  std::int64_t searches = 64 * static_cast<std::int64_t>(load_.size()) + 1024;
  for (std::uint32_t r = 0; r < load_.size(); ++r) {
    while (time_of(r) > target) {
      if (--searches < 0 || !relieve(r)) {
        return false;
      }
    }
  }
  return true;
}

std::int64_t Packer::current_depth() const {
  std::int64_t total = 0;
  for (std::uint32_t s = 0; s < sides_.size(); ++s) {
    const std::size_t half = roots_.size() * nodes_;
    std::int64_t deepest = 0;
    for (std::size_t at = s * half; at < (s + 1) * half; ++at) {
      deepest = std::max(deepest, depth_[at] == kOutside ? 0 : depth_[at]);
    }
    total += deepest;
  }
  return paired_ ? 2 * total : total;
}

Packing Packer::snapshot(std::int64_t period, std::int64_t depth) const {
  Packing packing{.num_nodes = nodes_,
                  .roots = {roots_.begin(), roots_.end()},
                  .up = {},
                  .down = {},
                  .partners = {partners_.begin(), partners_.end()},
                  .period = period,
                  .depth = depth};
  const std::size_t half = roots_.size() * nodes_;
  for (std::uint32_t s = 0; s < sides_.size(); ++s) {
    std::vector<std::uint32_t>& hops = sides_[s].out_tree ? packing.down : packing.up;
    hops.assign(half, kNone);
    for (std::size_t at = 0; at < half; ++at) {
      if (choice_[s * half + at] != kNone) {
        hops[at] = sides_[s].choices[choice_[s * half + at]].hop;
      }
    }
  }
  if (paired_) {
    packing.up.assign(half, kNone);
    for (std::size_t at = 0; at < half; ++at) {
      packing.up[at] = packing.down[at] == kNone ? kNone : fabric_.twin(packing.down[at]);
    }
  }
  return packing;
}

Packing Packer::improve(std::int64_t rounds, std::int64_t least_period) {
  constexpr std::int64_t kDepthSteps = 8;
  const std::vector<std::int64_t> least = limit_;
  Packing best;
  Int128 best_time = 0;
  for (std::int64_t step = 0; step <= kDepthSteps; ++step) {
    for (std::size_t s = 0; s < least.size(); ++s) {
      limit_[s] = least[s] + least[s] * step / kDepthSteps;
    }
    while (longest_time() > least_period && lower(longest_time() - 1)) {
    }
    for (std::uint32_t tree = 0; !job_.everybody() && tree < num_trees(); ++tree) {
      prune(tree);
    }
    const std::int64_t period = longest_time();
    const std::int64_t depth = current_depth();
    const Int128 time = static_cast<Int128>(rounds) * period + depth;
    if (step == 0 || time < best_time) {
      best_time = time;
      best = snapshot(period, depth);
    }
    if (period <= least_period) {
      break;
    }
  }
  return best;
}

Packing pack_trees(const PackingTask& task) {
  Packer packer(task);
  packer.plant(task.seed);
  Packing best = packer.improve(task.rounds, task.least_period);
  if (!task.grow || best.period <= task.least_period) {
    return best;
  }
  const auto time_of = [&](const Packing& packing) {
    return static_cast<Int128>(task.rounds) * packing.period + packing.depth;
  };
  // Eighths of the least period, which may be far below what the network allows.
  for (const std::int64_t budget : {8, 9, 10, 12, 16, 24}) {
    Packer other(task);
    other.grow(task.seed, task.least_period / 8 * budget);
    Packing packing = other.improve(task.rounds, task.least_period);
    if (time_of(packing) < time_of(best)) {
      best = std::move(packing);
    }
  }
  return best;
}

std::int64_t period_of(const Fabric& fabric, const Packing& packing, const HopCosts& costs) {
  std::vector<std::int64_t> busy(fabric.num_links(), 0);
  for (const std::vector<std::uint32_t>* hops : {&packing.up, &packing.down}) {
    for (const std::uint32_t hop : *hops) {
      if (hop != kNone) {
        for (const LinkId link : fabric.links(hop)) {
          busy[link.index()] += costs.busy(link.value());
        }
      }
    }
  }
  return *std::max_element(busy.begin(), busy.end());
}

}  // namespace tacos::trees
