// SPDX-License-Identifier: MIT
// A path for every message, such that no link has much more to do than it must.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"

#include "replay/route_table.h"
#include "synthesis/common/demand.h"

namespace tacos {

/// Lists of links, one after the other.
struct Paths {
  std::vector<std::uint32_t> first{0};
  std::vector<LinkId> links;

  [[nodiscard]] std::span<const LinkId> of(std::uint32_t message) const {
    return std::span(links).subspan(first[message], first[message + 1] - first[message]);
  }
  /// The same paths against the links.
  void reverse_each();
};

struct BalanceOptions {
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  /// How often every path is reconsidered, at most; 0 gives shortest paths.
  std::uint32_t sweeps = 0;
};

/// Paths of links from the source to the destination of each message; every destination must be
/// reachable. Switches are nodes like any other here.
[[nodiscard]] Paths balance_paths(const Topology& topology,
                                  const Demand& demand,
                                  const BalanceOptions& options);

/// The itineraries of paths that can all start at once.
[[nodiscard]] replay::Itineraries make_itineraries(const Topology& topology,
                                                   const Paths& paths,
                                                   replay::RouteTable& routes);

}  // namespace tacos
