// SPDX-License-Identifier: MIT
#include "support/reference_routing.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace tacos::testing {
namespace {

using Path = std::vector<LinkId>;

/// Relaxes until nothing changes.
Path shortest_path(const Topology& topology, NodeId from, NodeId to, Bytes bytes) {
  constexpr std::int64_t kFar = std::int64_t{1} << 60U;
  std::vector<std::int64_t> distance(topology.num_nodes(), kFar);
  std::vector<LinkId> link_to(topology.num_nodes());
  distance[from.index()] = 0;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::uint32_t l = 0; l < topology.num_links(); ++l) {
      const Link& link = topology.link(LinkId(l));
      const std::int64_t via =
          distance[link.src.index()] + link_cost(link, bytes, LinkModel::kHold).arrival.ps;
      if (via < distance[link.dst.index()]) {
        distance[link.dst.index()] = via;
        link_to[link.dst.index()] = LinkId(l);
        changed = true;
      }
    }
  }
  Path path;
  for (NodeId node = to; node != from; node = topology.link(path.back()).src) {
    path.push_back(link_to[node.index()]);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

NodeId end_of(const Collective& collective, ChunkId chunk, bool after) {
  for (std::uint32_t i = 0; i < collective.num_participants(); ++i) {
    if (after ? collective.ends_with(chunk, i) : collective.starts_with(chunk, i)) {
      return collective.participants()[i];
    }
  }
  return {};
}

}  // namespace

Ticks reference_routing(const Topology& topology, const Collective& collective, LinkModel model) {
  const Bytes bytes = collective.chunks().max_bytes();
  std::vector<Path> paths;
  std::vector<std::size_t> at(collective.num_chunks(), 0);
  // (when it is there, chunk)
  std::set<std::pair<std::int64_t, std::uint32_t>> waiting;
  for (std::uint32_t c = 0; c < collective.num_chunks(); ++c) {
    const NodeId from = end_of(collective, ChunkId(c), false);
    const NodeId to = end_of(collective, ChunkId(c), true);
    paths.push_back(shortest_path(topology, from, to, bytes));
    if (!paths.back().empty()) {
      waiting.emplace(0, c);
    }
  }
  std::vector<std::int64_t> free(topology.num_links(), 0);
  std::int64_t last = 0;
  while (!waiting.empty()) {
    const auto [there, chunk] = *waiting.begin();
    waiting.erase(waiting.begin());
    // The links up to the next NPU, and when each is reached after the start.
    std::vector<std::pair<LinkId, std::int64_t>> hop;
    std::int64_t start = there;
    std::int64_t offset = 0;
    std::int64_t slowest = 0;
    do {
      const LinkId id = paths[chunk][at[chunk]++];
      start = std::max(start, free[id.index()] - offset);
      hop.emplace_back(id, offset);
      offset += topology.link(id).latency.ps;
      slowest = std::max(slowest, serialization_time(bytes, topology.link(id).bandwidth).ps);
    } while (!topology.is_npu(topology.link(hop.back().first).dst));
    for (const auto& [id, after] : hop) {
      free[id.index()] = start + after + link_cost(topology.link(id), bytes, model).busy.ps;
    }
    const std::int64_t end = start + offset + slowest;
    last = std::max(last, end);
    if (at[chunk] < paths[chunk].size()) {
      waiting.emplace(end, chunk);
    }
  }
  return {last};
}

}  // namespace tacos::testing
