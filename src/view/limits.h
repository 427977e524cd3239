// SPDX-License-Identifier: MIT
// What limits a schedule, as a page shows it: certificates in the network, the critical path.
#pragma once

#include "tacos/bound.h"
#include "tacos/bundle.h"
#include "tacos/simulate.h"

#include "view/column.h"
#include "view/traffic.h"

namespace tacos::viewing {

/// The bound, and where it counts latency also the one that does not: each with its sentence, the
/// part of every node that is shown (0: none) and how much each link counts, 0 to 255.
[[nodiscard]] Json limits_json(const Bundle& bundle,
                               const BoundReport& bound,
                               const Traffic& traffic);

/// The steps of the critical path, as columns.
[[nodiscard]] Json path_json(const CriticalPath& path);

}  // namespace tacos::viewing
