// SPDX-License-Identifier: MIT
#include "bound/distance.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

namespace tacos {
namespace {

bool uniform_latency(const Topology& network) {
  return std::all_of(network.links().begin(), network.links().end(), [&](const Link& link) {
    return link.latency == network.links().begin()->latency;
  });
}

std::span<const LinkId> links_of(const Topology& network, NodeId node, Toward direction) {
  return direction == Toward::kFrom ? network.out_links(node) : network.in_links(node);
}

NodeId far_end(const Link& link, Toward direction) {
  return direction == Toward::kFrom ? link.dst : link.src;
}

void breadth_first(const Topology& network,
                   NodeId first,
                   Toward direction,
                   std::vector<Ticks>& distance) {
  std::vector<NodeId> queue{first};
  queue.reserve(network.num_nodes());
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const LinkId id : links_of(network, queue[at], direction)) {
      const Link& link = network.link(id);
      const NodeId other = far_end(link, direction);
      if (distance[other.index()] == kMaxTime) {
        // Never kMaxTime, or it would be reached again and again.
        distance[other.index()] =
            std::min(kMaxTime - Ticks{1}, distance[queue[at].index()] + link.latency);
        queue.push_back(other);
      }
    }
  }
}

void dijkstra(const Topology& network,
              NodeId first,
              Toward direction,
              std::vector<Ticks>& distance) {
  using Entry = std::pair<Ticks, NodeId>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.emplace(Ticks{0}, first);
  while (!queue.empty()) {
    const auto [d, node] = queue.top();
    queue.pop();
    if (d > distance[node.index()]) {
      continue;
    }
    for (const LinkId id : links_of(network, node, direction)) {
      const Link& link = network.link(id);
      const NodeId other = far_end(link, direction);
      const Ticks through = std::min(kMaxTime, d + link.latency);
      if (through < distance[other.index()]) {
        distance[other.index()] = through;
        queue.emplace(through, other);
      }
    }
  }
}

}  // namespace

std::vector<Ticks> distances(const Topology& network, NodeId node, Toward direction) {
  std::vector<Ticks> distance(network.num_nodes(), kMaxTime);
  distance[node.index()] = Ticks{0};
  if (uniform_latency(network)) {
    breadth_first(network, node, direction, distance);
  } else {
    dijkstra(network, node, direction, distance);
  }
  return distance;
}

}  // namespace tacos
