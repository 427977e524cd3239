// SPDX-License-Identifier: MIT
// The paper's matching in its plainest form: the oracle for the fast matchers.
#pragma once

#include "tacos/collective.h"
#include "tacos/topology.h"

namespace tacos::testing {

/// Collective time of an All-Gather by greedy matching at each point in time: a free link takes the
/// first chunk that its source has and its destination neither has nor is being sent.
[[nodiscard]] Ticks reference_all_gather(const Topology& topology,
                                         const Collective& collective,
                                         LinkModel model);

/// No All-Gather is faster: every chunk over its shortest path, and into every NPU whole chunks.
[[nodiscard]] Ticks reference_bound(const Topology& topology,
                                    const Collective& collective,
                                    LinkModel model);

}  // namespace tacos::testing
