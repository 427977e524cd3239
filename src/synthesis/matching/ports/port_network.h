// SPDX-License-Identifier: MIT
// Nodes and links with times for one chunk, along the links or against them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"

#include "base/csr.h"
#include "synthesis/common/direction.h"
#include "synthesis/matching/ports/speed_levels.h"

namespace tacos::matching {

class PortNetwork {
 public:
  PortNetwork(
      const Topology& topology, Direction direction, Bytes chunk_bytes, LinkModel model, Pace pace);

  [[nodiscard]] std::uint32_t num_nodes() const { return num_nodes_; }
  /// Those that work, by number: their ids differ where some have failed.
  [[nodiscard]] std::span<const PortLink> links() const { return links_; }
  /// The one with this id.
  [[nodiscard]] const PortLink& link(LinkId id) const { return links_[number_[id.index()]]; }
  /// Numbers of the links into a node, switches included.
  [[nodiscard]] std::span<const std::uint32_t> in_links(std::uint32_t node) const {
    return in_links_[node];
  }
  /// Where news for a node's receivers is counted: an NPU itself, or one place for all switches
  /// that are joined to each other.
  [[nodiscard]] std::uint32_t news_place(std::uint32_t node) const { return news_place_[node]; }
  /// The places at which news of an NPU counts: its own and those of the switches it sends to.
  [[nodiscard]] std::span<const std::uint32_t> places_of(std::uint32_t npu) const {
    return places_[npu];
  }
  /// No head of a message takes longer from an NPU to the last switch before another, ...
  [[nodiscard]] std::int64_t max_route_latency() const { return max_route_latency_; }
  /// ... or to where a link begins.
  [[nodiscard]] std::int64_t max_latency_before(std::uint32_t link) const {
    return max_latency_before_[link];
  }
  /// Whether only NPUs send to a switch, all with one latency: then whether one can send to another
  /// over it now is a matter of their links being idle.
  [[nodiscard]] bool is_even(std::uint32_t node) const { return is_even_[node]; }

 private:
  void find_places(const Topology& topology, Direction direction);
  void find_latencies(std::uint32_t num_npus);

  std::uint32_t num_nodes_;
  std::vector<PortLink> links_;
  /// By id.
  std::vector<std::uint32_t> number_;
  Csr<std::uint32_t> in_links_;
  std::vector<std::uint32_t> news_place_;
  Csr<std::uint32_t> places_;
  std::int64_t max_route_latency_ = 0;
  /// By link.
  std::vector<std::int64_t> max_latency_before_;
  /// By node.
  std::vector<bool> is_even_;
};

}  // namespace tacos::matching
