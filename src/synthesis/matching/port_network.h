// SPDX-License-Identifier: MIT
// Nodes and links with times for one chunk, along the links or against them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"

#include "synthesis/matching/gather_network.h"
#include "synthesis/matching/speed_levels.h"

namespace tacos {

class PortNetwork {
 public:
  PortNetwork(const Topology& topology, Direction direction, Bytes chunk_bytes);

  [[nodiscard]] std::uint32_t num_nodes() const { return num_nodes_; }
  /// By link id.
  [[nodiscard]] std::span<const PortLink> links() const { return links_; }
  /// Ids of the links into a node, switches included.
  [[nodiscard]] std::span<const std::uint32_t> in_links(std::uint32_t node) const {
    return std::span(in_links_).subspan(first_in_[node], first_in_[node + 1] - first_in_[node]);
  }
  /// No head of a message takes longer from an NPU to the last switch before another.
  [[nodiscard]] std::int64_t max_route_latency() const { return max_route_latency_; }

 private:
  std::uint32_t num_nodes_;
  std::vector<PortLink> links_;
  std::vector<std::uint32_t> first_in_;
  std::vector<std::uint32_t> in_links_;
  std::int64_t max_route_latency_ = 0;
};

}  // namespace tacos
