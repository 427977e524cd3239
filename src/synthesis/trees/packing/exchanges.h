// SPDX-License-Identifier: MIT
// Lowers the load of the fullest links by chains of exchanges: packing by augmenting paths.
#pragma once

#include <cstdint>
#include <vector>

#include "base/csr.h"
#include "synthesis/trees/packing/direct_uses.h"
#include "synthesis/trees/packing/forest.h"
#include "synthesis/trees/packing/kids.h"

namespace tacos::trees {

class Exchanges {
 public:
  /// Looks at `work` choices at most; over direct hops, which are few, at all.
  Exchanges(Forest& forest, std::int64_t work);

  /// Makes no resource busy for longer than `target`; false when that fails, trees still valid.
  bool lower(std::int64_t target);
  /// How many choices it may still look at.
  [[nodiscard]] std::int64_t work_left() const { return work_left_; }

 private:
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
  /// A node at which so many of the hops through a link end, or begin.
  struct End {
    std::uint32_t node = 0;
    std::int64_t hops = 0;
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

  [[nodiscard]] bool has_room(std::uint32_t resource) const {
    return forest_.time_with_one_more(resource) <= target_;
  }
  bool relieve(std::uint32_t overloaded);
  [[nodiscard]] bool find_room(std::uint32_t overloaded);
  [[nodiscard]] bool expand(std::uint32_t resource);
  [[nodiscard]] bool expand_ends(std::uint32_t resource,
                                 std::uint32_t tree,
                                 std::span<const End> ends);
  [[nodiscard]] bool expand_direct(std::uint32_t resource);
  [[nodiscard]] bool expand_direct_node(std::uint32_t resource,
                                        std::uint32_t tree,
                                        std::uint32_t node);
  [[nodiscard]] bool expand_node(std::uint32_t resource, std::uint32_t tree, std::uint32_t node);
  [[nodiscard]] std::uint32_t obstacle(std::uint32_t relieved,
                                       std::uint32_t hop,
                                       std::uint32_t other) const;
  [[nodiscard]] bool visit(const Exchange& exchange, std::uint32_t next);
  [[nodiscard]] bool list_below(std::uint32_t tree, std::uint32_t node);
  [[nodiscard]] bool still_valid(const Exchange& exchange);
  void hang_by(const Exchange& exchange);
  [[nodiscard]] bool can_hang(std::uint32_t tree, std::uint32_t node, std::uint32_t choice);
  [[nodiscard]] TreeColumn<std::int64_t> heights(std::uint32_t tree) {
    return {&height_[tree], forest_.num_trees()};
  }
  [[nodiscard]] TreeColumn<const std::int64_t> heights(std::uint32_t tree) const {
    return {&height_[tree], forest_.num_trees()};
  }
  void measure_tree(std::uint32_t tree);
  [[nodiscard]] std::int64_t height_by_kids(std::uint32_t tree, std::uint32_t node) const;
  void correct_heights(std::uint32_t tree,
                       std::uint32_t from,
                       std::uint32_t to,
                       std::int64_t height);
  void hang(std::uint32_t tree, std::uint32_t node, std::uint32_t choice);
  template <class Visit>
  void for_each_kid(std::uint32_t tree, std::uint32_t node, const Visit& visit) const;
  void push_kids(std::uint32_t tree, std::uint32_t node);
  void set_choice(std::uint32_t tree, std::uint32_t node, std::uint32_t choice);

  Forest& forest_;
  const Fabric& fabric_;
  std::int64_t target_ = 0;
  /// Exchanges that may still be looked at; through switches there are many, most of them alike.
  std::int64_t work_left_;
  /// What the last look at a node cost of it.
  std::int64_t looked_at_ = 0;
  /// By link; in the order of hops.
  Csr<End> targets_;
  Csr<End> sources_;
  /// Through switches, where a node may have any other for a kid.
  Kids kids_;
  // Search: a resource is seen when its stamp is the current one.
  std::vector<std::uint32_t> seen_;
  std::uint32_t stamp_ = 0;
  std::vector<Exchange> step_;
  /// The last of a chain of exchanges, after which nothing is overloaded.
  Exchange last_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint32_t> stack_;
  std::vector<std::uint32_t> turned_;
  /// By node and tree: how much deeper the deepest node below is.
  std::vector<std::int64_t> height_;
  bool measured_ = false;
  /// Whether exchanges may turn a subtree round; only where a hop's twin costs the same.
  bool turning_ = false;
  std::vector<Below> below_;
  std::vector<std::uint32_t> below_at_;
  std::vector<std::uint32_t> choice_of_hop_;
  /// By side, over direct hops.
  std::vector<DirectUses> direct_;
};

}  // namespace tacos::trees
