// SPDX-License-Identifier: MIT
#include "bound/flows/flow_graph.h"

#include <algorithm>

namespace tacos {

std::int64_t bandwidth_unit(const Topology& topology) {
  std::int64_t unit = 0;
  for (const Link& link : topology.links()) {
    unit = std::gcd(unit, link.bandwidth.bytes_per_second);
  }
  return unit == 0 ? 1 : unit;
}

Int128 total_bandwidth(const Topology& topology, std::int64_t unit) {
  Int128 total = 0;
  for (const Link& link : topology.links()) {
    total += link.bandwidth.bytes_per_second / unit;
  }
  return total;
}

template <class Int>
FlowGraph<Int>::FlowGraph(const Topology& topology, std::int64_t unit) {
  struct Half {
    std::uint32_t other;
    LinkId link;
    bool outgoing;
  };
  const std::uint32_t num_nodes = topology.num_nodes();
  std::vector<Half> halves;
  first_.reserve(num_nodes + std::size_t{1});
  arcs_.reserve(topology.num_links() * std::size_t{2});
  std::vector<std::uint32_t> next(num_nodes, 0);
  for (std::uint32_t node = 0; node < num_nodes; ++node) {
    first_.push_back(num_arcs());
    next[node] = num_arcs();
    halves.clear();
    for (const LinkId link : topology.out_links(NodeId(node))) {
      halves.push_back({topology.link(link).dst.value(), link, true});
    }
    for (const LinkId link : topology.in_links(NodeId(node))) {
      halves.push_back({topology.link(link).src.value(), link, false});
    }
    std::stable_sort(halves.begin(), halves.end(), [](const Half& a, const Half& b) {
      return a.other < b.other;
    });
    for (std::size_t i = 0; i < halves.size(); ++i) {
      if (i == 0 || halves[i].other != halves[i - 1].other) {
        arcs_.push_back({halves[i].other, 0, 0});
      }
      if (halves[i].outgoing) {
        arcs_.back().capacity += topology.link(halves[i].link).bandwidth.bytes_per_second / unit;
      }
    }
  }
  first_.push_back(num_arcs());
  // Nodes are met in increasing order both here and in each list, so twins pair up in one sweep.
  for (std::uint32_t node = 0; node < num_nodes; ++node) {
    for (std::uint32_t index = first_[node]; index < first_[node + 1]; ++index) {
      arcs_[index].twin = next[arcs_[index].head]++;
    }
  }
}

template <class Int>
Int FlowGraph<Int>::out_capacity(std::uint32_t node) const {
  Int sum = 0;
  for (std::uint32_t index = first_[node]; index < first_[node + 1]; ++index) {
    sum += arcs_[index].capacity;
  }
  return sum;
}

template <class Int>
Int FlowGraph<Int>::in_capacity(std::uint32_t node) const {
  Int sum = 0;
  for (std::uint32_t index = first_[node]; index < first_[node + 1]; ++index) {
    sum += arcs_[arcs_[index].twin].capacity;
  }
  return sum;
}

template <class Int>
void FlowGraph<Int>::reverse() {
  for (std::uint32_t index = 0; index < num_arcs(); ++index) {
    if (index < arcs_[index].twin) {
      std::swap(arcs_[index].capacity, arcs_[arcs_[index].twin].capacity);
    }
  }
}

template class FlowGraph<std::int64_t>;
template class FlowGraph<Int128>;

}  // namespace tacos
