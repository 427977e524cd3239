// SPDX-License-Identifier: MIT
// Hops with times as the schedule of a collective.
#pragma once

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "replay/route_table.h"
#include "replay/timed_hops.h"
#include "synthesis/common/demand.h"

namespace tacos::routing {

enum class RouteOrder { kAsStored, kBackwards };

/// Of what the hops were timed for: chunks may be a byte smaller than that.
[[nodiscard]] Schedule to_schedule(const Topology& topology,
                                   const Collective& collective,
                                   const Demand& demand,
                                   const replay::RouteTable& routes,
                                   RouteOrder order,
                                   const replay::TimedHops& timed);

}  // namespace tacos::routing
