// SPDX-License-Identifier: MIT
// Hops between NPUs: a link, or a route of links through switches, each under a number of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"

namespace tacos::replay {

using RouteId = std::uint32_t;

/// Routes are made as paths use them: a switch of n ports costs n, not n^2. The first routes are
/// the links, in their order; longer ones are prefixes, each one link longer than another.
class RouteTable {
 public:
  explicit RouteTable(const Topology& topology);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  [[nodiscard]] std::span<const LinkId> links(RouteId route) const {
    return std::span(links_).subspan(first_[route], first_[route + 1] - first_[route]);
  }
  /// The route that goes on over `link` after `prefix`.
  RouteId extend(RouteId prefix, LinkId link);

 private:
  [[nodiscard]] std::size_t slot_of(RouteId prefix, LinkId link) const;
  void grow();

  std::uint32_t num_links_;
  std::vector<std::uint32_t> first_{0};
  std::vector<LinkId> links_;
  /// Of each route beyond the links.
  std::vector<RouteId> prefix_;
  /// Open addressing by (prefix, last link); kFree where empty.
  std::vector<RouteId> slots_;
};

/// The hops of every message, one after the other.
struct Itineraries {
  std::vector<std::uint32_t> first{0};
  std::vector<RouteId> hops;
  /// Hops of others that must have arrived before a message can start, one message after the other,
  /// and the first of each. Both empty when all start at once.
  std::vector<std::uint32_t> waits;
  std::vector<std::uint32_t> first_wait;

  [[nodiscard]] std::uint32_t num_messages() const {
    return static_cast<std::uint32_t>(first.size() - 1);
  }
  [[nodiscard]] std::span<const std::uint32_t> waits_of(std::uint32_t message) const {
    return first_wait.empty()
               ? std::span<const std::uint32_t>()
               : std::span(waits).subspan(first_wait[message],
                                          first_wait[message + 1] - first_wait[message]);
  }
};

/// Cuts a path at the NPUs on the way and appends its hops as the next message.
void append_itinerary(const Topology& topology,
                      std::span<const LinkId> path,
                      RouteTable& routes,
                      Itineraries& itineraries);

}  // namespace tacos::replay
