// SPDX-License-Identifier: MIT
// As many trees away from one root, or towards it, as the narrowest cut has room for.
#pragma once

#include <optional>

#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/network/job.h"
#include "synthesis/trees/packing/packing.h"

namespace tacos::trees {

/// Nothing where it would take long: where the network is large or its speeds have no common unit
/// to speak of. Of a job with a root and everybody in it, on direct links.
[[nodiscard]] std::optional<Packing> pack_arborescences(const Fabric& fabric,
                                                        const HopCosts& costs,
                                                        const Job& job);

}  // namespace tacos::trees
