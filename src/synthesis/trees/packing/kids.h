// SPDX-License-Identifier: MIT
// Who hangs on whom in trees that change, as linked lists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "synthesis/trees/packing/forest.h"

namespace tacos::trees {

class Kids {
 public:
  /// Reads all trees anew. O(trees * nodes).
  void read(const Forest& forest) {
    nodes_ = forest.num_nodes();
    const std::size_t places = std::size_t{forest.num_trees()} * nodes_;
    first_.assign(places, kNone);
    next_.resize(places);
    before_.resize(places);
    for (std::uint32_t tree = 0; tree < forest.num_trees(); ++tree) {
      const auto choices = forest.choices(tree);
      for (std::uint32_t node = 0; node < nodes_; ++node) {
        if (choices[node] != kNone) {
          add(tree, forest.side(tree).choices[choices[node]].parent, node);
        }
      }
    }
  }

  void add(std::uint32_t tree, std::uint32_t parent, std::uint32_t kid) {
    const std::size_t row = std::size_t{tree} * nodes_;
    const std::uint32_t other = first_[row + parent];
    next_[row + kid] = other;
    before_[row + kid] = kNone;
    if (other != kNone) {
      before_[row + other] = kid;
    }
    first_[row + parent] = kid;
  }
  void remove(std::uint32_t tree, std::uint32_t parent, std::uint32_t kid) {
    const std::size_t row = std::size_t{tree} * nodes_;
    const std::uint32_t before = before_[row + kid];
    const std::uint32_t next = next_[row + kid];
    (before == kNone ? first_[row + parent] : next_[row + before]) = next;
    if (next != kNone) {
      before_[row + next] = before;
    }
  }

  /// In no particular order.
  template <class Visit>
  void for_each(std::uint32_t tree, std::uint32_t parent, const Visit& visit) const {
    const std::size_t row = std::size_t{tree} * nodes_;
    for (std::uint32_t kid = first_[row + parent]; kid != kNone; kid = next_[row + kid]) {
      visit(kid);
    }
  }

 private:
  std::size_t nodes_ = 0;
  /// Each tree has a row of nodes.
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> before_;
};

}  // namespace tacos::trees
