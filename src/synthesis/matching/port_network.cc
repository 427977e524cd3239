// SPDX-License-Identifier: MIT
#include "synthesis/matching/port_network.h"

#include <algorithm>
#include <utility>

namespace tacos {

PortNetwork::PortNetwork(const Topology& topology, Direction direction, Bytes chunk_bytes)
    : num_nodes_(topology.num_nodes()) {
  links_.reserve(topology.num_links());
  std::int64_t longest = 0;
  for (const Link& link : topology.links()) {
    const Ticks serialization = serialization_time(chunk_bytes, link.bandwidth);
    PortLink made{.src = link.src.value(),
                  .dst = link.dst.value(),
                  .serialization = serialization.ps,
                  .latency = link.latency.ps};
    if (direction == Direction::kAgainstLinks) {
      std::swap(made.src, made.dst);
    }
    links_.push_back(made);
    longest = std::max(longest, made.latency);
  }
  // A shortest way visits each switch once.
  constexpr std::int64_t kDeepest = 8;
  max_route_latency_ = longest * std::min<std::int64_t>(kDeepest, topology.num_switches());
  first_in_.push_back(0);
  for (std::uint32_t node = 0; node < num_nodes_; ++node) {
    const NodeId id(node);
    for (const LinkId link :
         direction == Direction::kWithLinks ? topology.in_links(id) : topology.out_links(id)) {
      in_links_.push_back(link.value());
    }
    first_in_.push_back(static_cast<std::uint32_t>(in_links_.size()));
  }
}

}  // namespace tacos
