// SPDX-License-Identifier: MIT
// The border at which times are checked. Whoever adds up times relies on three facts: no link needs
// longer than kMaxCrossing for all the data there is, no route through switches has more latency,
// and no shortest way, with a chunk stored and forwarded at each node, is longer. The last two
// follow from the number of nodes unless latency or chunks are extreme; only then is the network
// searched, from one node and towards it, since by way of it everybody reaches everybody.
#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tacos/topology.h"

#include "base/numbers/wide.h"
#include "base/text/quantity.h"

namespace tacos {
namespace {

/// "link 3>4 (1 B/s, 500.000 ns, gap 1 us)": the ends as `--fail` takes them.
std::string link_text(const Link& link) {
  return fmt::format("link {}>{} ({}, {}{})",
                     link.src.value(),
                     link.dst.value(),
                     format_bandwidth(link.bandwidth),
                     format_time(link.latency),
                     link.gap > Ticks{} ? ", gap " + format_time(link.gap) : "");
}

Error too_long(const Topology& topology, const std::string& what) {
  return input_error(
      fmt::format("sending {} takes longer than 6 days, too long for schedules of up "
                  "to 53 days; use a smaller size or leave slow links out",
                  what),
      topology.name());
}

/// How long the farthest node takes from `first` (or to it, `backwards`); kMaxTime when there is no
/// way. Nodes without links do not count.
Ticks farthest(const Topology& topology, NodeId first, Bytes chunk, bool backwards) {
  using Entry = std::pair<Ticks, NodeId>;
  std::vector<Ticks> distance(topology.num_nodes(), kMaxTime);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  distance[first.index()] = Ticks{};
  queue.emplace(Ticks{}, first);
  while (!queue.empty()) {
    const auto [so_far, node] = queue.top();
    queue.pop();
    if (so_far > distance[node.index()]) {
      continue;
    }
    for (const LinkId id : backwards ? topology.in_links(node) : topology.out_links(node)) {
      const Link& link = topology.link(id);
      const NodeId other = backwards ? link.src : link.dst;
      const Ticks there = so_far + link_cost(link, chunk, LinkModel::kHold).arrival;
      if (there < distance[other.index()]) {
        distance[other.index()] = there;
        queue.emplace(there, other);
      }
    }
  }
  Ticks longest;
  for (std::uint32_t number = 0; number < topology.num_nodes(); ++number) {
    const NodeId node(number);
    if (!topology.in_links(node).empty() || !topology.out_links(node).empty()) {
      longest = std::max(longest, distance[number]);
    }
  }
  return longest;
}

}  // namespace

Status check_times(const Topology& topology, Bytes chunk, Bytes all) {
  if (topology.num_working_links() == 0) {
    return ok();
  }
  Ticks latency;
  Bandwidth slowest = topology.links().begin()->bandwidth;
  for (const Link& link : topology.links()) {
    latency = std::max({latency, link.latency, link.gap});
    slowest = std::min(slowest, link.bandwidth);
  }
  // Both are at most kMaxTime.
  const Ticks whole = latency + serialization_time(all, slowest);
  const Ticks hop = latency + serialization_time(chunk, slowest);
  if (whole <= kMaxCrossing && Int128{hop.ps} * topology.num_nodes() <= kMaxCrossing.ps) {
    return ok();
  }
  for (const Link& link : topology.links()) {
    if (std::max(link.latency, link.gap) + serialization_time(all, link.bandwidth) > kMaxCrossing) {
      return too_long(topology, fmt::format("{} over {}", format_size(all), link_text(link)));
    }
  }
  if (Int128{latency.ps} * (topology.num_switches() + 1) > kMaxCrossing.ps) {
    return too_long(topology, "a message through all switches");
  }
  const NodeId first = topology.links().begin()->src;
  if (farthest(topology, first, chunk, false) + farthest(topology, first, chunk, true) >
      kMaxCrossing) {
    return too_long(topology, fmt::format("a chunk of {} across the network", format_size(chunk)));
  }
  return ok();
}

}  // namespace tacos
