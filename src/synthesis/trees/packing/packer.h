// SPDX-License-Identifier: MIT
// The state of packing.cc: trees under construction, the load that they put on hops, and the
// search for exchanges that lower it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/numbers/rng.h"
#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/network/job.h"
#include "synthesis/trees/packing/packing.h"

namespace tacos::trees {

/// The ways in which a node can hang on a parent, for all trees of one direction.
struct Side {
  struct Choice {
    std::uint32_t parent = 0;
    std::uint32_t hop = 0;
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
  bool out_tree;

  /// Out-trees hang v on the sources of hops into it, in-trees on the targets of those out.
  Side(const Fabric& fabric, bool out)
      : first(1, 0), kid_first(fabric.num_nodes() + 1, 0), out_tree(out) {
    const std::uint32_t nodes = fabric.num_nodes();
    for (std::uint32_t v = 0; v < nodes; ++v) {
      for (const std::uint32_t hop : out_tree ? fabric.into(v) : fabric.out_of(v)) {
        choices.push_back({out_tree ? fabric.source(hop) : fabric.target(hop), hop});
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
  explicit Packer(const PackingTask& task)
      : fabric_(task.fabric),
        costs_(task.costs),
        job_(task.job),
        nodes_(task.fabric.num_nodes()),
        paired_(task.fabric.symmetric() && task.job.flow == Flow::kUpAndDown),
        roots_(task.roots),
        partners_(task.partners),
        work_left_(task.fabric.direct() ? kMaxTime.ps : kMostWork) {
    const Fabric& fabric = task.fabric;
    if (job_.goes_down()) {
      sides_.emplace_back(fabric, true);
    }
    if (job_.goes_up() && !paired_) {
      sides_.emplace_back(fabric, false);
    }
    const std::size_t trees = task.roots.size() * sides_.size();
    choice_.assign(trees * nodes_, kNone);
    depth_.assign(trees * nodes_, kOutside);
    limit_.assign(sides_.size(), 0);
    load_.assign(fabric.num_links(), 0);
    seen_.assign(fabric.num_links(), 0);
    step_.resize(fabric.num_links());
    below_at_.assign(nodes_, kNone);
    choice_of_hop_.assign(fabric.num_hops(), kNone);
    for (std::uint32_t c = 0; c < sides_[0].choices.size(); ++c) {
      choice_of_hop_[sides_[0].choices[c].hop] = c;
    }
  }

  /// Trees to begin with, one way or the other.
  void plant(std::uint64_t seed);
  void grow(std::uint64_t seed, std::int64_t budget);
  [[nodiscard]] Packing improve(std::int64_t rounds, std::int64_t least_period);

 private:
  static constexpr std::int64_t kMostWork = 1'000'000;
  /// Depth of what is not in a tree.
  static constexpr std::int64_t kOutside = kMaxTime.ps;
  /// In place of a resource: none is in the way, or nothing is gained.
  static constexpr std::uint32_t kClear = kNone;
  static constexpr std::uint32_t kBlocked = kNone - 1;

  /// Hang what is at and below `node` by `choice` of `target`, which is `node` or below it, to take
  /// a tree off the resource `from`.
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
  /// Partners stay with their roots.
  [[nodiscard]] bool is_partner(std::uint32_t tree, std::uint32_t node) const {
    return !partners_.empty() && partners_[tree] == node;
  }
  /// Where up and down are the same tree twins are loaded together, so one stands for both.
  [[nodiscard]] std::uint32_t resource(std::uint32_t link) const {
    return paired_ ? std::min(link, fabric_.twin_link(link)) : link;
  }
  [[nodiscard]] bool uses(std::uint32_t hop, std::uint32_t used) const {
    const auto links = fabric_.links(hop);
    return std::any_of(
        links.begin(), links.end(), [&](LinkId link) { return resource(link.value()) == used; });
  }
  void add_load(std::uint32_t hop, std::int64_t trees) {
    for (const LinkId link : fabric_.links(hop)) {
      load_[resource(link.value())] += trees;
    }
  }
  [[nodiscard]] std::int64_t time_of(std::uint32_t resource) const {
    return load_[resource] * costs_.busy(resource);
  }
  [[nodiscard]] bool has_room(std::uint32_t resource) const {
    return (load_[resource] + 1) * costs_.busy(resource) <= target_;
  }
  [[nodiscard]] std::int64_t longest_time() const;

  void grow_tree(std::uint32_t tree, std::int64_t budget, Rng& rng);
  void plant_tree(std::uint32_t tree, Rng& rng);
  void hang_nearest(std::uint32_t tree,
                    std::uint32_t node,
                    std::span<const std::int64_t> distance,
                    Rng& rng);
  bool lower(std::int64_t target);
  bool relieve(std::uint32_t overloaded);
  [[nodiscard]] bool find_room(std::uint32_t overloaded);
  [[nodiscard]] bool expand(std::uint32_t resource);
  [[nodiscard]] bool expand_node(std::uint32_t resource, std::uint32_t tree, std::uint32_t node);
  [[nodiscard]] std::uint32_t obstacle(std::uint32_t relieved,
                                       std::uint32_t hop,
                                       std::uint32_t other) const;
  [[nodiscard]] bool visit(const Exchange& exchange, std::uint32_t next);
  [[nodiscard]] bool list_below(std::uint32_t tree, std::uint32_t node);
  [[nodiscard]] bool still_valid(const Exchange& exchange);
  void hang_by(const Exchange& exchange);
  [[nodiscard]] bool can_hang(std::uint32_t tree, std::uint32_t node, std::uint32_t choice);
  [[nodiscard]] bool has_above(std::uint32_t tree, std::uint32_t node, std::uint32_t above) const;
  [[nodiscard]] bool subtree_fits(std::uint32_t tree, std::uint32_t node, std::int64_t deeper);
  void hang(std::uint32_t tree, std::uint32_t node, std::uint32_t choice);
  void push_kids(std::uint32_t tree, std::uint32_t node);
  [[nodiscard]] std::int64_t current_depth() const;
  void prune(std::uint32_t tree);
  [[nodiscard]] Packing snapshot(std::int64_t period, std::int64_t depth) const;

  const Fabric& fabric_;
  const HopCosts& costs_;
  const Job& job_;
  std::uint32_t nodes_;
  /// Whether what goes up goes over the twins of what goes down.
  bool paired_;
  std::span<const std::uint32_t> roots_;
  std::span<const std::uint32_t> partners_;
  /// Out-trees, and in-trees where they are not out-trees turned round; or in-trees alone.
  std::vector<Side> sides_;
  /// Trees of side 0 first, then those of side 1; each has a row of nodes.
  std::vector<std::uint32_t> choice_;
  std::vector<std::int64_t> depth_;
  /// Per side: no node may be deeper.
  std::vector<std::int64_t> limit_;
  /// Trees that use a resource.
  std::vector<std::int64_t> load_;
  std::int64_t target_ = 0;

  /// Exchanges that may still be looked at; through switches there are many, most of them alike.
  std::int64_t work_left_;
  // Search: a resource is seen when its stamp is the current one.
  std::vector<std::uint32_t> seen_;
  std::uint32_t stamp_ = 0;
  std::vector<Exchange> step_;
  /// The last of a chain of exchanges, after which nothing is overloaded.
  Exchange last_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint32_t> stack_;
  /// Whether exchanges may turn a subtree round; only where a hop's twin costs the same.
  bool turning_ = false;
  std::vector<Below> below_;
  std::vector<std::uint32_t> below_at_;
  std::vector<std::uint32_t> choice_of_hop_;
};

}  // namespace tacos::trees
