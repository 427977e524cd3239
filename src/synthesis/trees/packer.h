// SPDX-License-Identifier: MIT
// The state of packing.cc: trees under construction, the load that they put on channels, and the
// search for exchanges that lower it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "base/rng.h"
#include "synthesis/trees/fabric.h"
#include "synthesis/trees/packing.h"

namespace tacos::trees {

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
  explicit Packer(const PackingTask& task)
      : fabric_(task.fabric),
        costs_(task.costs),
        nodes_(task.fabric.num_nodes()),
        roots_(task.roots),
        partners_(task.partners) {
    const Fabric& fabric = task.fabric;
    sides_.emplace_back(fabric, true);
    if (!fabric.symmetric()) {
      sides_.emplace_back(fabric, false);
    }
    const std::size_t trees = task.roots.size() * sides_.size();
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
  /// Partners stay with their roots.
  [[nodiscard]] bool is_partner(std::uint32_t tree, std::uint32_t node) const {
    return !partners_.empty() && partners_[tree] == node;
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
  std::span<const std::uint32_t> partners_;
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

}  // namespace tacos::trees
