// SPDX-License-Identifier: MIT
// The network as flow algorithms want it: parallel and opposite links merged into pairs of arcs, in
// CSR order, capacities in units of the greatest common divisor of all bandwidths.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "tacos/topology.h"

#include "base/numbers/wide.h"

namespace tacos {

/// Greatest common divisor of all bandwidths, in bytes per second; 1 without links.
[[nodiscard]] std::int64_t bandwidth_unit(const Topology& topology);
/// Sum of all bandwidths in that unit.
[[nodiscard]] Int128 total_bandwidth(const Topology& topology, std::int64_t unit);

/// Int is std::int64_t, or Int128 where products with the number of NPUs would not fit.
template <class Int>
class FlowGraph {
 public:
  struct Arc {
    std::uint32_t head;
    /// The arc between the same nodes in the other direction.
    std::uint32_t twin;
    Int capacity;
  };

  FlowGraph(const Topology& topology, std::int64_t unit);

  [[nodiscard]] std::uint32_t num_nodes() const {
    return static_cast<std::uint32_t>(first_.size() - 1);
  }
  [[nodiscard]] std::uint32_t num_arcs() const { return static_cast<std::uint32_t>(arcs_.size()); }
  /// Arcs out of `node` are first(node) .. first(node + 1) - 1.
  [[nodiscard]] std::uint32_t first(std::uint32_t node) const { return first_[node]; }
  [[nodiscard]] const Arc& arc(std::uint32_t index) const { return arcs_[index]; }
  [[nodiscard]] Int out_capacity(std::uint32_t node) const;
  [[nodiscard]] Int in_capacity(std::uint32_t node) const;
  /// Makes every arc its twin: the network with all links turned round.
  void reverse();

 private:
  std::vector<std::uint32_t> first_;
  std::vector<Arc> arcs_;
};

extern template class FlowGraph<std::int64_t>;
extern template class FlowGraph<Int128>;

}  // namespace tacos
