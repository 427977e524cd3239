// SPDX-License-Identifier: MIT
// A schedule's transfers as early as their order allows.
#pragma once

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos::replay {

/// The same transfers, in the same order on every link and at every NPU, each as early as that
/// allows under `model`. The schedule, held in memory, is right under it or under one in which
/// links are busy for longer: so nothing gets later. O(transfers log transfers), mostly.
[[nodiscard]] Schedule replayed(const Topology& topology,
                                const Collective& collective,
                                LinkModel model,
                                const Schedule& schedule);

}  // namespace tacos::replay
