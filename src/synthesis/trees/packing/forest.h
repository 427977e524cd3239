// SPDX-License-Identifier: MIT
// Trees under construction, and the load that they put on links.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/csr.h"
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
  /// Those of a node are choices[first[node]] up to choices[first[node + 1]].
  std::vector<std::uint32_t> first;
  std::vector<Choice> choices;
  /// By node.
  Csr<Kid> kids;
  bool out_tree;

  /// Out-trees hang v on the sources of hops into it, in-trees on the targets of those out.
  Side(const Fabric& fabric, bool out);
};

/// What nodes have in one tree: trees lie side by side, so that what all of them have at a node is
/// together in memory.
template <class Value>
struct TreeColumn {
  Value* first = nullptr;
  std::size_t trees = 0;

  Value& operator[](std::size_t node) const { return first[node * trees]; }
};

/// Where up and down are the same tree, links with their twins are loaded together: a *resource* is
/// a link, or there the lower of the two, which stands for both.
class Forest {
 public:
  /// Depth of what is not in a tree.
  static constexpr std::int64_t kOutside = kMaxTime.ps;

  /// Trees without nodes but their roots.
  explicit Forest(const PackingTask& task);

  [[nodiscard]] const Fabric& fabric() const { return fabric_; }
  [[nodiscard]] const HopCosts& costs() const { return costs_; }
  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] std::uint32_t num_nodes() const { return nodes_; }
  /// Whether what goes up goes over the twins of what goes down.
  [[nodiscard]] bool paired() const { return paired_; }

  /// Those of side 0 first, then those of side 1.
  [[nodiscard]] std::uint32_t num_trees() const {
    return static_cast<std::uint32_t>(roots_.size() * sides_.size());
  }
  [[nodiscard]] std::uint32_t num_roots() const {
    return static_cast<std::uint32_t>(roots_.size());
  }
  [[nodiscard]] std::uint32_t root_of(std::uint32_t tree) const {
    return roots_[tree < roots_.size() ? tree : tree - roots_.size()];
  }
  /// Partners stay with their roots.
  [[nodiscard]] bool is_partner(std::uint32_t tree, std::uint32_t node) const {
    return !partners_.empty() && partners_[tree] == node;
  }
  [[nodiscard]] std::span<const std::uint32_t> partners() const { return partners_; }

  /// Out-trees, and in-trees where they are not out-trees turned round; or in-trees alone.
  [[nodiscard]] std::uint32_t num_sides() const {
    return static_cast<std::uint32_t>(sides_.size());
  }
  [[nodiscard]] const Side& side(std::uint32_t tree) const { return sides_[side_of(tree)]; }

  /// By node: the choice that it hangs by, kNone for a root and outside; how far from the root.
  [[nodiscard]] TreeColumn<std::uint32_t> choices(std::uint32_t tree) {
    return {&choice_[tree], num_trees()};
  }
  [[nodiscard]] TreeColumn<const std::uint32_t> choices(std::uint32_t tree) const {
    return {&choice_[tree], num_trees()};
  }
  /// Of one node, by tree.
  [[nodiscard]] std::span<const std::uint32_t> choices_at(std::uint32_t node) const {
    return std::span(choice_).subspan(std::size_t{node} * num_trees(), num_trees());
  }
  [[nodiscard]] TreeColumn<std::int64_t> depths(std::uint32_t tree) {
    return {&depth_[tree], num_trees()};
  }
  [[nodiscard]] TreeColumn<const std::int64_t> depths(std::uint32_t tree) const {
    return {&depth_[tree], num_trees()};
  }
  /// No node of the tree may be deeper.
  [[nodiscard]] std::int64_t limit(std::uint32_t tree) const { return limit_[side_of(tree)]; }
  void raise_limit(std::uint32_t tree, std::int64_t depth) {
    limit_[side_of(tree)] = std::max(limit_[side_of(tree)], depth);
  }
  /// By side.
  [[nodiscard]] std::vector<std::int64_t>& limits() { return limit_; }

  [[nodiscard]] std::uint32_t num_resources() const {
    return static_cast<std::uint32_t>(load_.size());
  }
  /// Those that a hop uses.
  [[nodiscard]] std::span<const std::uint32_t> resources(std::uint32_t hop) const {
    const std::uint32_t first = fabric_.first_place(hop);
    return {&resource_at_[first], fabric_.first_place(hop + 1) - first};
  }
  [[nodiscard]] bool uses(std::uint32_t hop, std::uint32_t used) const {
    const auto all = resources(hop);
    return std::find(all.begin(), all.end(), used) != all.end();
  }
  void add_load(std::uint32_t hop, std::int64_t trees) {
    for (const std::uint32_t resource : resources(hop)) {
      load_[resource] += trees;
    }
  }
  /// How long a chunk on every tree, or on one more, keeps the resource busy.
  [[nodiscard]] std::int64_t time_of(std::uint32_t resource) const {
    return load_[resource] * costs_.busy(resource);
  }
  [[nodiscard]] std::int64_t time_with_one_more(std::uint32_t resource) const {
    return (load_[resource] + 1) * costs_.busy(resource);
  }
  /// Of the fullest link of a hop, with one tree more.
  [[nodiscard]] std::int64_t time_over(std::uint32_t hop) const {
    std::int64_t longest = 0;
    for (const std::uint32_t resource : resources(hop)) {
      longest = std::max(longest, time_with_one_more(resource));
    }
    return longest;
  }
  [[nodiscard]] std::int64_t longest_time() const;

  [[nodiscard]] bool has_above(std::uint32_t tree, std::uint32_t node, std::uint32_t above) const;
  /// Takes out of a tree who takes no part and passes nothing on.
  void prune(std::uint32_t tree);

  [[nodiscard]] std::int64_t current_depth() const;
  [[nodiscard]] Packing snapshot(std::int64_t period, std::int64_t depth) const;

 private:
  [[nodiscard]] std::uint32_t side_of(std::uint32_t tree) const {
    return tree < roots_.size() ? 0 : 1;
  }

  const Fabric& fabric_;
  const HopCosts& costs_;
  const Job& job_;
  std::uint32_t nodes_;
  bool paired_;
  std::span<const std::uint32_t> roots_;
  std::span<const std::uint32_t> partners_;
  std::vector<Side> sides_;
  /// By node and tree.
  std::vector<std::uint32_t> choice_;
  std::vector<std::int64_t> depth_;
  /// By side.
  std::vector<std::int64_t> limit_;
  /// By place of a link among those of all hops (Fabric::first_place).
  std::vector<std::uint32_t> resource_at_;
  /// Trees that use a resource.
  std::vector<std::int64_t> load_;
};

}  // namespace tacos::trees
