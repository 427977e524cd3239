// SPDX-License-Identifier: MIT
#include "support/reference_matching.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

namespace tacos::testing {

Ticks reference_all_gather(const Topology& topology,
                           const Collective& collective,
                           LinkModel model) {
  constexpr std::int64_t kNever = -1;
  const std::size_t npus = topology.num_npus();
  const std::size_t chunks = collective.num_chunks();
  // When each NPU has, or will have, each chunk.
  std::vector<std::vector<std::int64_t>> arrival(npus, std::vector<std::int64_t>(chunks, kNever));
  for (std::uint32_t c = 0; c < chunks; ++c) {
    arrival[collective.participants()[collective.owner(ChunkId(c))].index()][c] = 0;
  }
  std::vector<std::int64_t> free(topology.num_links(), 0);
  std::set<std::int64_t> times{0};
  std::int64_t last = 0;
  while (!times.empty()) {
    const std::int64_t now = *times.begin();
    times.erase(times.begin());
    for (std::uint32_t l = 0; l < topology.num_links(); ++l) {
      const Link& link = topology.link(LinkId(l));
      for (std::uint32_t c = 0; c < chunks && free[l] <= now; ++c) {
        const std::int64_t held = arrival[link.src.index()][c];
        if (held == kNever || held > now || arrival[link.dst.index()][c] != kNever) {
          continue;
        }
        const LinkCost cost = link_cost(link, collective.chunks().max_bytes(), model);
        arrival[link.dst.index()][c] = now + cost.arrival.ps;
        free[l] = now + cost.busy.ps;
        times.insert({free[l], now + cost.arrival.ps});
        last = std::max(last, now + cost.arrival.ps);
      }
    }
  }
  return {last};
}

Ticks reference_bound(const Topology& topology, const Collective& collective, LinkModel model) {
  const std::size_t npus = topology.num_npus();
  const Bytes least{collective.chunks().max_bytes().count - 1};
  std::int64_t bound = 0;
  for (std::uint32_t v = 0; v < npus; ++v) {
    // Shortest time from every NPU to v, relaxing until nothing changes.
    constexpr std::int64_t kFar = std::int64_t{1} << 60U;
    std::vector<std::int64_t> distance(npus, kFar);
    distance[v] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Link& link : topology.links()) {
        const std::int64_t via =
            distance[link.dst.index()] + link_cost(link, least, model).arrival.ps;
        changed = changed || via < distance[link.src.index()];
        distance[link.src.index()] = std::min(distance[link.src.index()], via);
      }
    }
    bound = std::max(bound, *std::max_element(distance.begin(), distance.end()));
    // The n-th arrival over all links into v, each as fast as it can: take the earliest n times.
    std::multimap<std::int64_t, std::int64_t> next;
    for (const LinkId id : topology.in_links(NodeId(v))) {
      const LinkCost cost = link_cost(topology.link(id), least, model);
      next.emplace(cost.arrival.ps, cost.busy.ps);
    }
    const std::uint32_t own = collective.num_chunks() / collective.num_participants();
    for (std::uint32_t i = own; i < collective.num_chunks(); ++i) {
      const auto [arrival, busy] = *next.begin();
      next.erase(next.begin());
      next.emplace(arrival + busy, busy);
      bound = std::max(bound, arrival);
    }
  }
  return {bound};
}

}  // namespace tacos::testing
