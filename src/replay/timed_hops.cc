// SPDX-License-Identifier: MIT
#include "synthesis/routing/plan.h"

#include <algorithm>

#include "schedule/builder.h"

namespace tacos::routing {
namespace {

bool equally_fast(const Topology& topology, std::span<const LinkId> links) {
  return std::all_of(links.begin(), links.end(), [&](LinkId link) {
    return topology.link(link).bandwidth == topology.link(links.front()).bandwidth;
  });
}

/// Numbers of the transfers in the order of a schedule: by start, then by first link.
std::vector<std::uint32_t> schedule_order(const Plan& plan,
                                          const RouteTable& routes,
                                          RouteOrder order) {
  std::vector<std::uint32_t> numbers(plan.transfers.size());
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = i;
  }
  const auto first_link = [&](std::uint32_t number) {
    const auto links = routes.links(plan.transfers[number].route);
    return order == RouteOrder::kAsStored ? links.front() : links.back();
  };
  const auto by_link = [&](std::uint32_t a, std::uint32_t b) {
    return first_link(a) < first_link(b);
  };
  for (auto begin = numbers.begin(); begin != numbers.end();) {
    const Ticks start = plan.transfers[*begin].start;
    const auto end = std::find_if(begin, numbers.end(), [&](std::uint32_t number) {
      return plan.transfers[number].start != start;
    });
    std::sort(begin, end, by_link);
    begin = end;
  }
  return numbers;
}

}  // namespace

std::optional<Plan> mirrored(const Topology& topology, const RouteTable& routes, const Plan& plan) {
  for (const PlannedTransfer& transfer : plan.transfers) {
    if (!equally_fast(topology, routes.links(transfer.route))) {
      return std::nullopt;
    }
  }
  std::vector<std::uint32_t> numbers(plan.transfers.size());
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = i;
  }
  std::sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Ticks end_a = plan.transfers[a].end;
    const Ticks end_b = plan.transfers[b].end;
    return end_a != end_b ? end_a > end_b : a < b;
  });
  Plan made;
  made.end = plan.end;
  made.transfers.reserve(plan.transfers.size());
  made.messages.reserve(plan.messages.size());
  for (const std::uint32_t number : numbers) {
    const PlannedTransfer& transfer = plan.transfers[number];
    made.transfers.push_back({.start = plan.end - transfer.end,
                              .end = plan.end - transfer.start,
                              .route = transfer.route,
                              .first_message = static_cast<std::uint32_t>(made.messages.size())});
    const auto messages = plan.messages_of(number);
    made.messages.insert(made.messages.end(), messages.begin(), messages.end());
  }
  return made;
}

std::vector<std::int64_t> mirrored_ranks(const Itineraries& itineraries, const Plan& plan) {
  std::vector<std::int64_t> ranks(itineraries.hops.size());
  // The first hop of a message in the plan is its last in the result.
  std::vector<std::uint32_t> next(itineraries.first.begin() + 1, itineraries.first.end());
  for (std::size_t transfer = 0; transfer < plan.transfers.size(); ++transfer) {
    for (const std::uint32_t message : plan.messages_of(transfer)) {
      ranks[--next[message]] = plan.transfers[transfer].end.ps;
    }
  }
  return ranks;
}

Schedule to_schedule(const Topology& topology,
                     const Collective& collective,
                     const Demand& demand,
                     const RouteTable& routes,
                     RouteOrder order,
                     const Plan& plan) {
  ScheduleBuilder builder(topology.num_links());
  std::vector<LinkId> links;
  std::vector<ChunkId> chunks;
  Ticks latest;
  for (const std::uint32_t number : schedule_order(plan, routes, order)) {
    const PlannedTransfer& planned = plan.transfers[number];
    const auto route = routes.links(planned.route);
    links.assign(route.begin(), route.end());
    if (order == RouteOrder::kBackwards) {
      std::reverse(links.begin(), links.end());
    }
    chunks.clear();
    std::int64_t bytes = 0;
    for (const std::uint32_t message : plan.messages_of(number)) {
      chunks.push_back(demand.chunk(message));
      bytes += collective.chunks().bytes(chunks.back()).count;
    }
    // Only transfers that may end later than all before need their exact end.
    if (planned.end > latest) {
      latest = std::max(latest, planned.start + route_time(topology, links, {bytes}));
    }
    builder.append({.start = planned.start, .op = Op::kCopy, .links = links, .chunks = chunks},
                   latest);
  }
  return std::move(builder).build();
}

}  // namespace tacos::routing
