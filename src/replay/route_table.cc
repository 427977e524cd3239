// SPDX-License-Identifier: MIT
#include "replay/route_table.h"

#include "base/numbers/rng.h"

namespace tacos::replay {
namespace {

constexpr RouteId kFree = ~RouteId{0};

}  // namespace

RouteTable::RouteTable(const Topology& topology) : num_links_(topology.num_links()) {
  constexpr std::size_t kFewSlots = 64;
  slots_.assign(kFewSlots, kFree);
  for (std::uint32_t link = 0; link < num_links_; ++link) {
    links_.emplace_back(link);
    first_.push_back(link + 1);
  }
}

std::size_t RouteTable::slot_of(RouteId prefix, LinkId link) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = mix64(std::uint64_t{prefix} << 32U | link.value()) & mask;
  while (slots_[slot] != kFree) {
    const RouteId route = slots_[slot];
    if (prefix_[route - num_links_] == prefix && links(route).back() == link) {
      break;
    }
    slot = (slot + 1) & mask;
  }
  return slot;
}

void RouteTable::grow() {
  slots_.assign(2 * slots_.size(), kFree);
  for (RouteId route = num_links_; route < size(); ++route) {
    slots_[slot_of(prefix_[route - num_links_], links(route).back())] = route;
  }
}

RouteId RouteTable::extend(RouteId prefix, LinkId link) {
  std::size_t slot = slot_of(prefix, link);
  if (slots_[slot] != kFree) {
    return slots_[slot];
  }
  const RouteId made = size();
  if (2 * prefix_.size() >= slots_.size()) {
    grow();
    slot = slot_of(prefix, link);
  }
  slots_[slot] = made;
  prefix_.push_back(prefix);
  for (std::uint32_t at = first_[prefix]; at < first_[prefix + 1]; ++at) {
    const LinkId before = links_[at];
    links_.push_back(before);
  }
  links_.push_back(link);
  first_.push_back(static_cast<std::uint32_t>(links_.size()));
  return made;
}

void append_itinerary(const Topology& topology,
                      std::span<const LinkId> path,
                      RouteTable& routes,
                      Itineraries& itineraries) {
  RouteId route = kFree;
  for (const LinkId link : path) {
    route = route == kFree ? link.value() : routes.extend(route, link);
    if (topology.is_npu(topology.link(link).dst)) {
      itineraries.hops.push_back(route);
      route = kFree;
    }
  }
  itineraries.first.push_back(static_cast<std::uint32_t>(itineraries.hops.size()));
}

}  // namespace tacos::replay
