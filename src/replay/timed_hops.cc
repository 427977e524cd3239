// SPDX-License-Identifier: MIT
#include "replay/timed_hops.h"

#include <algorithm>

namespace tacos::replay {
namespace {

bool equally_fast(const Topology& topology, std::span<const LinkId> links) {
  return std::all_of(links.begin(), links.end(), [&](LinkId link) {
    return topology.link(link).bandwidth == topology.link(links.front()).bandwidth;
  });
}

}  // namespace

std::optional<TimedHops> mirrored(const Topology& topology,
                                  const RouteTable& routes,
                                  const TimedHops& timed) {
  for (const TimedHop& transfer : timed.transfers) {
    if (!equally_fast(topology, routes.links(transfer.route))) {
      return std::nullopt;
    }
  }
  std::vector<std::uint32_t> numbers(timed.transfers.size());
  for (std::uint32_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = i;
  }
  std::sort(numbers.begin(), numbers.end(), [&](std::uint32_t a, std::uint32_t b) {
    const Ticks end_a = timed.transfers[a].end;
    const Ticks end_b = timed.transfers[b].end;
    return end_a != end_b ? end_a > end_b : a < b;
  });
  TimedHops made;
  made.end = timed.end;
  made.transfers.reserve(timed.transfers.size());
  made.messages.reserve(timed.messages.size());
  for (const std::uint32_t number : numbers) {
    const TimedHop& transfer = timed.transfers[number];
    made.transfers.push_back({.start = timed.end - transfer.end,
                              .end = timed.end - transfer.start,
                              .route = transfer.route,
                              .first_message = static_cast<std::uint32_t>(made.messages.size())});
    const auto messages = timed.messages_of(number);
    made.messages.insert(made.messages.end(), messages.begin(), messages.end());
  }
  return made;
}

std::vector<std::int64_t> mirrored_ranks(const Itineraries& itineraries, const TimedHops& timed) {
  std::vector<std::int64_t> ranks(itineraries.hops.size());
  // The first hop of a message in `timed` is its last in the result.
  std::vector<std::uint32_t> next(itineraries.first.begin() + 1, itineraries.first.end());
  for (std::size_t transfer = 0; transfer < timed.transfers.size(); ++transfer) {
    for (const std::uint32_t message : timed.messages_of(transfer)) {
      ranks[--next[message]] = timed.transfers[transfer].end.ps;
    }
  }
  return ranks;
}

}  // namespace tacos::replay
