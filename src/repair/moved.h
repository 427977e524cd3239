// SPDX-License-Identifier: MIT
// A schedule as a symmetry of its network sees it.
#pragma once

#include <optional>

#include "tacos/bundle.h"
#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/topology.h"

#include "base/numbers/permutation.h"

namespace tacos::repairing {

/// What `collective`, which is the same for NPUs that a symmetry takes those of `bundle` to, does
/// then: `nodes` is where nodes go, `links` where links do. Nothing where chunks are of unequal
/// sizes, so that times could not be kept. Fails where the schedule cannot be read. O(transfers
/// log transfers).
[[nodiscard]] Result<std::optional<Schedule>> moved(const Bundle& bundle,
                                                    const Collective& collective,
                                                    const Permutation& nodes,
                                                    const Permutation& links);

}  // namespace tacos::repairing
