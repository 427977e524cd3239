// SPDX-License-Identifier: MIT
// Double binary tree: Sanders, Speck and Traeff, "Two-tree algorithms for full bandwidth broadcast,
// reduction and scan", Parallel Computing 2009; NCCL since 2.4. Two binary trees over all but the
// root, in which who passes on in one is a leaf of the other; pieces take them in turn.
#include <bit>

#include "synthesis/baselines/baseline.h"

namespace tacos::baselines {
namespace {

/// A tree over 1, ..., last in which numbers are in order: odd ones are leaves.
class Tree {
 public:
  explicit Tree(std::uint32_t last) : last_(last) {}

  [[nodiscard]] std::uint32_t top() const { return std::bit_floor(last_); }
  /// Calls visit(parent, child) from the top down.
  template <class Visit>
  void for_each_edge(const Visit& visit) const {
    std::vector<std::uint32_t> level{top()};
    while (!level.empty()) {
      std::vector<std::uint32_t> below;
      for (const std::uint32_t node : level) {
        std::uint32_t step = (node & -node) / 2;
        if (step == 0) {
          continue;
        }
        below.push_back(node - step);
        visit(node, node - step);
        // The right child may lie beyond the last; then the first below it that does not.
        while (step != 0 && node + step > last_) {
          step /= 2;
        }
        if (step != 0) {
          below.push_back(node + step);
          visit(node, node + step);
        }
      }
      level = std::move(below);
    }
  }

 private:
  std::uint32_t last_;
};

Messages spread(std::uint32_t size, std::uint32_t root, bool second) {
  Messages messages;
  const std::uint32_t last = size - 1;
  // In the second tree numbers are mirrored, or shifted by one, so that odd becomes even.
  const auto participant = [&](std::uint32_t node) {
    const std::uint32_t other = last % 2 == 0 ? last + 1 - node : node % last + 1;
    return (root + (second ? other : node)) % size;
  };
  const Tree tree(last);
  messages.send(root, participant(tree.top()), 0U);
  tree.for_each_edge([&](std::uint32_t parent, std::uint32_t child) {
    messages.send(participant(parent), participant(child), 0U);
  });
  return messages;
}

}  // namespace

Result<std::vector<Algorithm>> double_binary_tree(const Setup& setup) {
  return std::vector<Algorithm>{
      {.spread = [size = setup.size(), root = setup.root()](std::uint32_t piece) {
        return spread(size, root, piece % 2 != 0);
      }}};
}

}  // namespace tacos::baselines
