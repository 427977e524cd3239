// SPDX-License-Identifier: MIT
#include "synthesis/routing/to_schedule.h"

#include <algorithm>

#include "schedule/builder.h"

namespace tacos::routing {
namespace {

/// Numbers of the transfers in the order of a schedule: by start, then by first link.
std::vector<std::uint32_t> schedule_order(const replay::TimedHops& timed,
                                          const replay::RouteTable& routes,
                                          RouteOrder order) {
  std::vector<std::uint32_t> numbers(timed.transfers.size());
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = i;
  }
  const auto first_link = [&](std::uint32_t number) {
    const auto links = routes.links(timed.transfers[number].route);
    return order == RouteOrder::kAsStored ? links.front() : links.back();
  };
  const auto by_link = [&](std::uint32_t a, std::uint32_t b) {
    return first_link(a) < first_link(b);
  };
  for (auto begin = numbers.begin(); begin != numbers.end();) {
    const Ticks start = timed.transfers[*begin].start;
    const auto end = std::find_if(begin, numbers.end(), [&](std::uint32_t number) {
      return timed.transfers[number].start != start;
    });
    std::sort(begin, end, by_link);
    begin = end;
  }
  return numbers;
}

}  // namespace

Schedule to_schedule(const Topology& topology,
                     const Collective& collective,
                     const Demand& demand,
                     const replay::RouteTable& routes,
                     RouteOrder order,
                     const replay::TimedHops& timed) {
  ScheduleBuilder builder(topology.num_links());
  std::vector<LinkId> links;
  std::vector<ChunkId> chunks;
  Ticks latest;
  for (const std::uint32_t number : schedule_order(timed, routes, order)) {
    const replay::TimedHop& planned = timed.transfers[number];
    const auto route = routes.links(planned.route);
    links.assign(route.begin(), route.end());
    if (order == RouteOrder::kBackwards) {
      std::reverse(links.begin(), links.end());
    }
    chunks.clear();
    for (const std::uint32_t message : timed.messages_of(number)) {
      chunks.push_back(demand.chunk(message));
    }
    // Only transfers that may end later than all before need their exact end.
    if (planned.end > latest) {
      latest = std::max(
          latest, planned.start + route_time(topology, links, collective.chunks().bytes(chunks)));
    }
    builder.append({.start = planned.start, .op = Op::kCopy, .links = links, .chunks = chunks},
                   latest);
  }
  return std::move(builder).build();
}

}  // namespace tacos::routing
