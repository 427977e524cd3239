// SPDX-License-Identifier: MIT
// NPUs that neither take part nor have links (they failed, or may not relay) are nothing to an
// engine: a problem without them has the same schedules, since transfers name links and chunks.
#pragma once

#include <optional>

#include "tacos/synthesize.h"
#include "tacos/topology.h"

namespace tacos {

struct CompactProblem {
  /// Links have their old ids; the nodes that are left are numbered anew, in the old order.
  Topology topology;
  Problem problem;
};

/// The problem without idle NPUs, or nothing when there are none or the collective is custom.
[[nodiscard]] std::optional<CompactProblem> without_idle_npus(const Topology& topology,
                                                              const Problem& problem);

}  // namespace tacos
