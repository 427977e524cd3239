// SPDX-License-Identifier: MIT
// Maximum flow between two nodes of a small network whose capacities change from run to run.
#pragma once

#include <cstdint>
#include <vector>

namespace tacos {

/// Dinic's algorithm. Capacities and their sums must stay below 2^62.
class MaxFlow {
 public:
  explicit MaxFlow(std::uint32_t num_nodes) : arcs_of_(num_nodes) {}

  /// Returns the arc's number. Its twin in the other direction has capacity 0.
  std::uint32_t add_arc(std::uint32_t from, std::uint32_t to, std::int64_t capacity);
  void set_capacity(std::uint32_t arc, std::int64_t capacity) { arcs_[arc].capacity = capacity; }

  /// Starts from no flow every time.
  [[nodiscard]] std::int64_t run(std::uint32_t source, std::uint32_t sink);
  /// After a run: whether the node is on the source's side of the smallest minimum cut.
  [[nodiscard]] bool on_source_side(std::uint32_t node) const { return label_[node] != kUnseen; }

 private:
  struct Arc {
    std::uint32_t head;
    std::int64_t capacity;
    std::int64_t left;
  };
  static constexpr std::uint32_t kUnseen = ~std::uint32_t{0};

  [[nodiscard]] bool label(std::uint32_t source, std::uint32_t sink);
  [[nodiscard]] std::int64_t fill(std::uint32_t source, std::uint32_t sink);

  std::vector<Arc> arcs_;
  std::vector<std::vector<std::uint32_t>> arcs_of_;
  std::vector<std::uint32_t> label_;
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> queue_;
  std::vector<std::uint32_t> path_;
};

}  // namespace tacos
