// SPDX-License-Identifier: MIT
// Whether data can get where it must: a pair of NPUs that says no.
#pragma once

#include <optional>
#include <utility>

#include "tacos/synthesize.h"
#include "tacos/topology.h"

namespace tacos {

/// A pair (from, to) of participants without a path where the collective needs one: from the root
/// in a Scatter or a Broadcast, to it in a Gather or a Reduce, from all to all in the others.
/// O(links).
[[nodiscard]] std::optional<std::pair<NodeId, NodeId>> find_unreachable(const Topology& topology,
                                                                        const Problem& problem);

}  // namespace tacos
