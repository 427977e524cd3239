// SPDX-License-Identifier: MIT
#include "synthesis/multicast/tree_hops.h"

#include <algorithm>

namespace tacos {
namespace {

/// Hops are ranked as if no way took longer.
constexpr std::int64_t kLongWay = std::int64_t{1} << 60U;

std::int64_t duration(const Topology& topology, std::span<const LinkId> links, Bytes bytes) {
  std::int64_t latency = 0;
  std::int64_t slowest = 0;
  for (const LinkId id : links) {
    const Link& link = topology.link(id);
    latency = std::min(kLongWay, latency + std::min(kLongWay, link.latency.ps));
    slowest = std::max(slowest, serialization_time(bytes, link.bandwidth).ps);
  }
  return std::min(kLongWay, latency + std::min(kLongWay, slowest));
}

/// Of each hop: how long the longest way goes on after it.
std::vector<std::int64_t> ways_below(const Itineraries& itineraries,
                                     std::span<const std::int64_t> duration_of_route) {
  // What comes after a hop has a higher number, so one walk backwards is enough.
  std::vector<std::int64_t> below(itineraries.hops.size(), 0);
  for (std::uint32_t message = itineraries.num_messages(); message-- > 0;) {
    const std::uint32_t first = itineraries.first[message];
    for (std::uint32_t hop = itineraries.first[message + 1]; hop-- > first;) {
      const std::uint32_t before = hop > first ? hop - 1 : itineraries.after[message];
      if (before != kNoHop) {
        const std::int64_t way = below[hop] + duration_of_route[itineraries.hops[hop]];
        below[before] = std::max(below[before], std::min(way, kLongWay));
      }
    }
  }
  return below;
}

/// How long the fullest link is busy, latencies left out.
std::int64_t fullest(const Topology& topology,
                     const Itineraries& itineraries,
                     const RouteTable& routes,
                     Bytes bytes) {
  std::vector<std::int64_t> load(topology.num_links(), 0);
  std::int64_t most = 0;
  for (const RouteId route : itineraries.hops) {
    for (const LinkId link : routes.links(route)) {
      const std::int64_t time = serialization_time(bytes, topology.link(link).bandwidth).ps;
      load[link.index()] = std::min(kLongWay, load[link.index()] + std::min(kLongWay, time));
      most = std::max(most, load[link.index()]);
    }
  }
  return most;
}

}  // namespace

TreeMessages make_tree_messages(const Topology& topology,
                                const SteinerTrees& trees,
                                std::uint32_t trees_per_root,
                                std::uint32_t chunks_per_root,
                                RouteTable& routes) {
  TreeMessages made;
  const auto num_roots = static_cast<std::uint32_t>((trees.first.size() - 1) / trees_per_root);
  std::vector<std::uint32_t> hop_to(topology.num_nodes());
  for (std::uint32_t chunk = 0; chunk < num_roots * chunks_per_root; ++chunk) {
    const std::uint32_t turn = chunk % chunks_per_root % trees_per_root;
    const std::uint32_t tree = chunk / chunks_per_root * trees_per_root + turn;
    std::fill(hop_to.begin(), hop_to.end(), kNoHop);
    for (std::uint32_t branch = trees.first[tree]; branch < trees.first[tree + 1]; ++branch) {
      const auto path = trees.branches.of(branch);
      auto hop = static_cast<std::uint32_t>(made.itineraries.hops.size());
      made.itineraries.after.push_back(hop_to[topology.link(path.front()).src.index()]);
      append_itinerary(topology, path, routes, made.itineraries);
      made.chunk.push_back(chunk);
      for (; hop < made.itineraries.hops.size(); ++hop) {
        const LinkId last = routes.links(made.itineraries.hops[hop]).back();
        hop_to[topology.link(last).dst.index()] = hop;
      }
    }
  }
  return made;
}

std::vector<std::int64_t> tree_ranks(const Topology& topology,
                                     const TreeMessages& messages,
                                     std::uint32_t chunks_per_root,
                                     const RouteTable& routes,
                                     Bytes chunk_bytes,
                                     TreeOrder order) {
  std::vector<std::int64_t> times(routes.size());
  for (RouteId route = 0; route < routes.size(); ++route) {
    times[route] = duration(topology, routes.links(route), chunk_bytes);
  }
  const Itineraries& itineraries = messages.itineraries;
  std::vector<std::int64_t> ranks = ways_below(itineraries, times);
  std::int64_t pace = 0;
  if (order == TreeOrder::kPaced) {
    pace = fullest(topology, itineraries, routes, chunk_bytes) / chunks_per_root;
  } else if (order == TreeOrder::kInTurn && !ranks.empty()) {
    pace = *std::max_element(ranks.begin(), ranks.end()) + 1;
  }
  pace = std::min(pace, kLongWay / chunks_per_root);
  for (std::uint32_t message = 0; message < itineraries.num_messages(); ++message) {
    const std::uint32_t turn = messages.chunk[message] % chunks_per_root;
    const std::int64_t ahead = pace * (chunks_per_root - 1 - turn);
    for (std::uint32_t at = itineraries.first[message]; at < itineraries.first[message + 1]; ++at) {
      ranks[at] += ahead;
    }
  }
  return ranks;
}

}  // namespace tacos
