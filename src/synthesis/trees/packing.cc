// SPDX-License-Identifier: MIT
// Packing by augmenting paths.
//
// Every tree starts as a shortest-path tree, ties broken towards the least loaded channel, so depth
// is minimal and load is not. Then the load of the busiest channels is lowered, one unit after the
// other: in a tree that uses channel r for node v, v (with all below it) can hang on another
// neighbour over channel r', which moves one unit of load from r to r'; r' may move it on in
// another tree, until a channel with room is found. Breadth-first search over channels finds the
// shortest such chain; it is the augmenting path of matroid union (Edmonds 1965), restricted to
// exchanges at v itself, and to those that keep the tree's depth within a limit. When no chain
// exists the limit is raised a little. Of all states on the way the one with the best
// rounds * period + depth is kept.
//
// The last exchange of a chain is always valid; those before are checked again in the state that it
// leaves, and if one has become invalid the chain is cut there: trees stay trees, and the hole has
// come nearer.
//
// Cost: a search visits each channel once and looks at every tree's choice at its two ends,
// O(channels * trees * degree) at most; on the networks tried a chain has one to four exchanges and
// a search sees a few dozen channels. 8x8 mesh, 16 trees: a perfect packing (each channel 9 times)
// at the least possible depth in 1 ms.
#include "synthesis/trees/packing.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/rng.h"
#include "base/wide.h"
#include "synthesis/trees/roots.h"

namespace tacos::trees {
namespace {

/// The ways in which a node can hang on a parent, for all trees of one direction.
struct Side {
  struct Choice {
    std::uint32_t parent = 0;
    std::uint32_t channel = 0;
  };
  /// What hangs on a node if choices[choice] is taken.
  struct Kid {
    std::uint32_t node = 0;
    std::uint32_t choice = 0;
  };
  std::vector<std::uint32_t> first;
  std::vector<Choice> choices;
  std::vector<std::uint32_t> kid_first;
  std::vector<Kid> kids;

  /// Out-trees hang v on the sources of channels into it, in-trees on the targets of those out.
  Side(const Fabric& fabric, bool out_tree) : first(1, 0), kid_first(fabric.num_nodes() + 1, 0) {
    const std::uint32_t nodes = fabric.num_nodes();
    for (std::uint32_t v = 0; v < nodes; ++v) {
      for (const std::uint32_t channel : out_tree ? fabric.into(v) : fabric.out_of(v)) {
        choices.push_back({out_tree ? fabric.source(channel) : fabric.target(channel), channel});
        ++kid_first[choices.back().parent + 1];
      }
      first.push_back(static_cast<std::uint32_t>(choices.size()));
    }
    std::partial_sum(kid_first.begin(), kid_first.end(), kid_first.begin());
    kids.resize(choices.size());
    std::vector<std::uint32_t> next(kid_first.begin(), kid_first.end() - 1);
    for (std::uint32_t v = 0; v < nodes; ++v) {
      for (std::uint32_t choice = first[v]; choice < first[v + 1]; ++choice) {
        kids[next[choices[choice].parent]++] = {v, choice};
      }
    }
  }
};

class Packer {
 public:
  Packer(const Fabric& fabric, const ChannelCosts& costs, std::span<const std::uint32_t> roots)
      : fabric_(fabric), costs_(costs), nodes_(fabric.num_nodes()), roots_(roots) {
    sides_.emplace_back(fabric, true);
    if (!fabric.symmetric()) {
      sides_.emplace_back(fabric, false);
    }
    const std::size_t trees = roots.size() * sides_.size();
    choice_.assign(trees * nodes_, kNone);
    depth_.assign(trees * nodes_, 0);
    limit_.assign(sides_.size(), 0);
    load_.assign(fabric.num_channels(), 0);
    seen_.assign(fabric.num_channels(), 0);
    step_.resize(fabric.num_channels());
    below_at_.assign(nodes_, kNone);
    choice_of_channel_.assign(fabric.num_channels(), kNone);
    for (std::uint32_t c = 0; c < sides_[0].choices.size(); ++c) {
      choice_of_channel_[sides_[0].choices[c].channel] = c;
    }
  }

  void plant(std::uint64_t seed);
  [[nodiscard]] Packing improve(std::int64_t rounds, std::int64_t least_period);

 private:
  /// Hang what is at and below `node` by `choice` of `target`, which is `node` or below it.
  struct Exchange {
    std::uint32_t from = kNone;
    std::uint32_t tree = 0;
    std::uint32_t node = 0;
    std::uint32_t target = 0;
    std::uint32_t choice = 0;
  };
  /// A subtree in preorder, with what is needed to know its depth when hung by another node.
  struct Below {
    std::uint32_t node = 0;
    std::uint32_t parent = 0;
    std::int64_t above_cost = 0;
    std::int64_t deepest = 0;
    std::int64_t second = 0;
    std::int64_t outside = 0;
  };

  [[nodiscard]] std::uint32_t num_trees() const {
    return static_cast<std::uint32_t>(roots_.size() * sides_.size());
  }
  [[nodiscard]] std::uint32_t side_of(std::uint32_t tree) const {
    return tree < roots_.size() ? 0 : 1;
  }
  [[nodiscard]] std::uint32_t root_of(std::uint32_t tree) const {
    return roots_[tree < roots_.size() ? tree : tree - roots_.size()];
  }
  /// Twins are loaded together, so one of them stands for both.
  [[nodiscard]] std::uint32_t resource(std::uint32_t channel) const {
    return fabric_.symmetric() ? std::min(channel, fabric_.twin(channel)) : channel;
  }
  [[nodiscard]] std::int64_t time_of(std::uint32_t resource) const {
    return load_[resource] * costs_.busy(resource);
  }
  [[nodiscard]] bool has_room(std::uint32_t resource) const {
    return (load_[resource] + 1) * costs_.busy(resource) <= target_;
  }
  [[nodiscard]] std::int64_t longest_time() const;

  void plant_tree(std::uint32_t tree, Rng& rng);
  bool lower(std::int64_t target);
  bool relieve(std::uint32_t overloaded);
  [[nodiscard]] std::uint32_t find_room(std::uint32_t overloaded);
  [[nodiscard]] std::uint32_t expand(std::uint32_t resource);
  [[nodiscard]] std::uint32_t expand_node(std::uint32_t resource,
                                          std::uint32_t tree,
                                          std::uint32_t node);
  [[nodiscard]] std::uint32_t visit(const Exchange& exchange);
  [[nodiscard]] bool list_below(std::uint32_t tree, std::uint32_t node);
  [[nodiscard]] bool still_valid(const Exchange& exchange);
  void hang_by(const Exchange& exchange);
  [[nodiscard]] bool can_hang(std::uint32_t tree, std::uint32_t node, std::uint32_t choice);
  [[nodiscard]] bool has_above(std::uint32_t tree, std::uint32_t node, std::uint32_t above) const;
  [[nodiscard]] bool subtree_fits(std::uint32_t tree, std::uint32_t node, std::int64_t deeper);
  void hang(std::uint32_t tree, std::uint32_t node, std::uint32_t choice);
  void push_kids(std::uint32_t tree, std::uint32_t node);
  [[nodiscard]] std::int64_t current_depth() const;
  [[nodiscard]] Packing snapshot(std::int64_t period, std::int64_t depth) const;

  const Fabric& fabric_;
  const ChannelCosts& costs_;
  std::uint32_t nodes_;
  std::span<const std::uint32_t> roots_;
  /// Out-trees, and in-trees where they are not out-trees turned round.
  std::vector<Side> sides_;
  /// Trees of side 0 first, then those of side 1; each has a row of nodes.
  std::vector<std::uint32_t> choice_;
  std::vector<std::int64_t> depth_;
  /// Per side: no node may be deeper.
  std::vector<std::int64_t> limit_;
  /// Trees that use a resource.
  std::vector<std::int64_t> load_;
  std::int64_t target_ = 0;

  // Search: a resource is seen when its stamp is the current one.
  std::vector<std::uint32_t> seen_;
  std::uint32_t stamp_ = 0;
  std::vector<Exchange> step_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint32_t> stack_;
  /// Whether exchanges may turn a subtree round; only where a channel's twin costs the same.
  bool turning_ = false;
  std::vector<Below> below_;
  std::vector<std::uint32_t> below_at_;
  std::vector<std::uint32_t> choice_of_channel_;
};

/// Bounds the work per search and per look at a subtree; only large networks meet them.
constexpr std::size_t kMaxSearched = 4096;
constexpr std::size_t kMaxSubtree = 1024;
constexpr std::size_t kMaxTurned = 128;

void Packer::plant(std::uint64_t seed) {
  Rng rng(seed);
  for (std::uint32_t tree = 0; tree < num_trees(); ++tree) {
    plant_tree(tree, rng);
  }
}

void Packer::plant_tree(std::uint32_t tree, Rng& rng) {
  const Side& side = sides_[side_of(tree)];
  const std::uint32_t root = root_of(tree);
  std::uint32_t* const choice = &choice_[std::size_t{tree} * nodes_];
  std::int64_t* const depth = &depth_[std::size_t{tree} * nodes_];
  std::vector<std::int64_t> distance;
  distances(fabric_, costs_.arrivals(), root, side_of(tree) == 1, distance);
  std::vector<std::uint32_t> order(nodes_);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(distance[a], a) < std::pair(distance[b], b);
  });
  for (const std::uint32_t node : order) {
    if (node == root) {
      continue;
    }
    std::pair<std::int64_t, std::uint64_t> best_key;
    for (std::uint32_t c = side.first[node]; c < side.first[node + 1]; ++c) {
      const auto [parent, channel] = side.choices[c];
      if (distance[parent] + costs_.arrival(channel) != distance[node]) {
        continue;
      }
      const std::uint32_t r = resource(channel);
      const std::pair key{time_of(r) + costs_.busy(r), rng.next()};
      if (choice[node] == kNone || key < best_key) {
        best_key = key;
        choice[node] = c;
      }
    }
    depth[node] = distance[node];
    ++load_[resource(side.choices[choice[node]].channel)];
    limit_[side_of(tree)] = std::max(limit_[side_of(tree)], distance[node]);
  }
}

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
  const auto [parent, channel] = sides_[side_of(tree)].choices[choice];
  const std::int64_t* const depth = &depth_[std::size_t{tree} * nodes_];
  const std::int64_t new_depth = depth[parent] + costs_.arrival(channel);
  if (new_depth > limit_[side_of(tree)] || has_above(tree, parent, node)) {
    return false;
  }
  return new_depth <= depth[node] || subtree_fits(tree, node, new_depth - depth[node]);
}

void Packer::hang(std::uint32_t tree, std::uint32_t node, std::uint32_t choice) {
  const Side& side = sides_[side_of(tree)];
  std::uint32_t& current = choice_[std::size_t{tree} * nodes_ + node];
  std::int64_t* const depth = &depth_[std::size_t{tree} * nodes_];
  --load_[resource(side.choices[current].channel)];
  current = choice;
  const auto [parent, channel] = side.choices[choice];
  ++load_[resource(channel)];
  const std::int64_t deeper = depth[parent] + costs_.arrival(channel) - depth[node];
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

/// Marks what the exchange leads to as seen; returns it if it has room, else kNone.
std::uint32_t Packer::visit(const Exchange& exchange) {
  const std::uint32_t other =
      resource(sides_[side_of(exchange.tree)].choices[exchange.choice].channel);
  seen_[other] = stamp_;
  step_[other] = exchange;
  queue_.push_back(other);
  return has_room(other) ? other : kNone;
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
            {.node = kid, .parent = i, .above_cost = costs_.arrival(side.choices[by].channel)});
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

/// Looks at what `node` of `tree` could hang on instead; returns a resource with room, or kNone.
std::uint32_t Packer::expand_node(std::uint32_t r, std::uint32_t tree, std::uint32_t node) {
  const Side& side = sides_[side_of(tree)];
  const std::uint32_t current = choice_[std::size_t{tree} * nodes_ + node];
  if (current == kNone || resource(side.choices[current].channel) != r) {
    return kNone;
  }
  if (!turning_) {
    for (std::uint32_t c = side.first[node]; c < side.first[node + 1]; ++c) {
      if (seen_[resource(side.choices[c].channel)] != stamp_ && can_hang(tree, node, c)) {
        if (const std::uint32_t found = visit({r, tree, node, node, c}); found != kNone) {
          return found;
        }
      }
    }
    return kNone;
  }
  if (!list_below(tree, node)) {
    return kNone;
  }
  for (const Below& by : below_) {
    const std::int64_t allowed = limit_[0] - std::max(by.deepest, by.outside);
    for (std::uint32_t c = side.first[by.node]; c < side.first[by.node + 1]; ++c) {
      const auto [parent, channel] = side.choices[c];
      const std::int64_t depth =
          depth_[std::size_t{tree} * nodes_ + parent] + costs_.arrival(channel);
      if (depth <= allowed && below_at_[parent] == kNone && seen_[resource(channel)] != stamp_) {
        if (const std::uint32_t found = visit({r, tree, node, by.node, c}); found != kNone) {
          return found;
        }
      }
    }
  }
  return kNone;
}

std::uint32_t Packer::expand(std::uint32_t r) {
  for (std::uint32_t tree = 0; tree < num_trees(); ++tree) {
    // In an out-tree a channel hangs its target, in an in-tree its source; a twin pair either.
    const bool out_tree = side_of(tree) == 0;
    std::uint32_t found = expand_node(r, tree, out_tree ? fabric_.target(r) : fabric_.source(r));
    if (found == kNone && fabric_.symmetric()) {
      found = expand_node(r, tree, fabric_.source(r));
    }
    if (found != kNone) {
      return found;
    }
  }
  return kNone;
}

/// The end of a shortest chain of exchanges that begins at the resource, or kNone.
std::uint32_t Packer::find_room(std::uint32_t overloaded) {
  ++stamp_;
  seen_[overloaded] = stamp_;
  step_[overloaded] = {};
  queue_.assign(1, overloaded);
  for (std::size_t next = 0; next < std::min(queue_.size(), kMaxSearched); ++next) {
    if (const std::uint32_t found = expand(queue_[next]); found != kNone) {
      return found;
    }
  }
  return kNone;
}

bool Packer::still_valid(const Exchange& exchange) {
  const Side& side = sides_[side_of(exchange.tree)];
  const std::uint32_t current = choice_[std::size_t{exchange.tree} * nodes_ + exchange.node];
  if (resource(side.choices[current].channel) != exchange.from) {
    return false;
  }
  if (!turning_) {
    return can_hang(exchange.tree, exchange.node, exchange.choice);
  }
  const auto [parent, channel] = side.choices[exchange.choice];
  if (!list_below(exchange.tree, exchange.node) || below_at_[exchange.target] == kNone ||
      below_at_[parent] != kNone) {
    return false;
  }
  const Below& by = below_[below_at_[exchange.target]];
  return depth_[std::size_t{exchange.tree} * nodes_ + parent] + costs_.arrival(channel) +
             std::max(by.deepest, by.outside) <=
         limit_[0];
}

/// Hangs the subtree by another of its nodes: the way between the two is turned round.
void Packer::hang_by(const Exchange& exchange) {
  const Side& side = sides_[0];
  std::uint32_t* const choice = &choice_[std::size_t{exchange.tree} * nodes_];
  std::int64_t* const depth = &depth_[std::size_t{exchange.tree} * nodes_];
  --load_[exchange.from];
  ++load_[resource(side.choices[exchange.choice].channel)];
  std::uint32_t by = exchange.choice;
  for (std::uint32_t node = exchange.target;;) {
    const auto [parent, channel] = side.choices[std::exchange(choice[node], by)];
    if (node == exchange.node) {
      break;
    }
    node = parent;
    by = choice_of_channel_[fabric_.twin(channel)];
  }
  stack_.assign(1, exchange.target);
  while (!stack_.empty()) {
    const std::uint32_t node = stack_.back();
    stack_.pop_back();
    const auto [parent, channel] = side.choices[choice[node]];
    depth[node] = depth[parent] + costs_.arrival(channel);
    push_kids(exchange.tree, node);
  }
}

/// Takes one tree off the resource; false when there is no way to.
bool Packer::relieve(std::uint32_t overloaded) {
  turning_ = false;
  std::uint32_t found = find_room(overloaded);
  if (found == kNone && fabric_.symmetric()) {
    turning_ = true;
    found = find_room(overloaded);
  }
  if (found == kNone) {
    return false;
  }
  for (Exchange step = step_[found]; step.from != kNone && still_valid(step);
       step = step_[step.from]) {
    if (turning_) {
      hang_by(step);
    } else {
      hang(step.tree, step.node, step.choice);
    }
  }
  return true;
}

/// Makes no channel busy for longer than `target`; false when that fails, trees still valid.
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
    const auto begin = depth_.begin() + static_cast<std::ptrdiff_t>(s * half);
    total += *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(half));
  }
  return fabric_.symmetric() ? 2 * total : total;
}

Packing Packer::snapshot(std::int64_t period, std::int64_t depth) const {
  Packing packing{.num_nodes = nodes_,
                  .roots = {roots_.begin(), roots_.end()},
                  .up = {},
                  .down = {},
                  .period = period,
                  .depth = depth};
  const std::size_t half = roots_.size() * nodes_;
  packing.up.assign(half, kNone);
  packing.down.assign(half, kNone);
  for (std::size_t at = 0; at < half; ++at) {
    if (choice_[at] == kNone) {
      continue;
    }
    packing.down[at] = sides_[0].choices[choice_[at]].channel;
    packing.up[at] = fabric_.symmetric() ? fabric_.twin(packing.down[at])
                                         : sides_[1].choices[choice_[half + at]].channel;
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

}  // namespace

Packing pack_trees(const PackingTask& task) {
  Packer packer(task.fabric, task.costs, task.roots);
  packer.plant(task.seed);
  return packer.improve(task.rounds, task.least_period);
}

std::int64_t period_of(const Packing& packing, const ChannelCosts& costs) {
  std::vector<std::int64_t> busy(costs.arrivals().size(), 0);
  for (const std::vector<std::uint32_t>* channels : {&packing.up, &packing.down}) {
    for (const std::uint32_t channel : *channels) {
      if (channel != kNone) {
        busy[channel] += costs.busy(channel);
      }
    }
  }
  return *std::max_element(busy.begin(), busy.end());
}

}  // namespace tacos::trees
