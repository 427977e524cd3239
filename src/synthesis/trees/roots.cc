// SPDX-License-Identifier: MIT
#include "synthesis/trees/roots.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <utility>

namespace tacos::trees {
namespace {

using Entry = std::pair<std::int64_t, std::uint32_t>;

constexpr std::int64_t kFar = kMaxTime.ps;

}  // namespace

void distances(const Fabric& fabric,
               std::span<const std::int64_t> arrival,
               std::uint32_t root,
               bool backwards,
               std::vector<std::int64_t>& distance) {
  distance.assign(fabric.num_nodes(), kFar);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distance[root] = 0;
  queue.emplace(0, root);
  while (!queue.empty()) {
    const auto [reached, node] = queue.top();
    queue.pop();
    if (reached > distance[node]) {
      continue;
    }
    for (const std::uint32_t channel : backwards ? fabric.into(node) : fabric.out_of(node)) {
      const std::uint32_t other = backwards ? fabric.source(channel) : fabric.target(channel);
      const std::int64_t through = reached + arrival[channel];
      if (through < distance[other]) {
        distance[other] = through;
        queue.emplace(through, other);
      }
    }
  }
}

Centre find_centre(const Fabric& fabric, std::span<const std::int64_t> arrival) {
  // Distance to the farthest of a few landmarks, each the farthest NPU from those before it: on
  // meshes these are the corners, and the distance is exact.
  // On small networks every NPU is one.
  constexpr std::uint32_t kLandmarks = 32;
  constexpr std::uint32_t kSmall = 512;
  const std::uint32_t nodes = fabric.num_nodes();
  const std::uint32_t landmarks = nodes <= kSmall ? nodes : kLandmarks;
  std::vector<std::int64_t> out(nodes, 0);
  std::vector<std::int64_t> in(nodes, 0);
  std::vector<std::int64_t> nearest(nodes, kFar);
  std::vector<std::int64_t> distance;
  std::uint32_t landmark = 0;
  for (std::uint32_t i = 0; i < landmarks; ++i) {
    for (const bool backwards : {true, false}) {
      if (fabric.symmetric() && !backwards) {
        in = out;
        continue;
      }
      distances(fabric, arrival, landmark, backwards, distance);
      std::vector<std::int64_t>& farthest = backwards ? out : in;
      for (std::uint32_t v = 0; v < nodes; ++v) {
        farthest[v] = std::max(farthest[v], distance[v]);
        nearest[v] = std::min(nearest[v], distance[v]);
      }
    }
    landmark = static_cast<std::uint32_t>(std::max_element(nearest.begin(), nearest.end()) -
                                          nearest.begin());
  }
  Centre centre;
  centre.nodes.resize(nodes);
  std::iota(centre.nodes.begin(), centre.nodes.end(), 0U);
  std::stable_sort(centre.nodes.begin(), centre.nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
    return out[a] + in[a] < out[b] + in[b];
  });
  const std::int64_t least = out[centre.nodes[0]] + in[centre.nodes[0]];
  while (centre.central < nodes &&
         out[centre.nodes[centre.central]] + in[centre.nodes[centre.central]] <=
             least + least / 32) {
    ++centre.central;
  }
  return centre;
}

std::vector<std::uint32_t> spread_roots(const Centre& centre, std::uint32_t num_trees) {
  std::vector<std::uint32_t> roots;
  for (std::uint64_t i = 0; i < num_trees; ++i) {
    const std::uint64_t at =
        num_trees >= centre.central ? i % centre.central : i * centre.central / num_trees;
    roots.push_back(centre.nodes[at]);
  }
  return roots;
}

}  // namespace tacos::trees
