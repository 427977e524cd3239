// SPDX-License-Identifier: MIT
// Verdict on a pattern without expanding it.
#pragma once

#include <cstdint>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "schedule/patterns/pattern.h"
#include "verify/violations.h"

namespace tacos {

/// What the transfers that a pattern stands for amount to.
struct PatternCounts {
  std::uint64_t transfers = 0;
  Ticks latest;
};

/// All-Gather, Reduce-Scatter and All-Reduce; patterns of others must be expanded.
[[nodiscard]] bool proves_patterns_of(CollectiveKind kind);

/// Without violations, the expanded schedule does what the collective asks. O(links + entries),
/// plus dimensions for each NPU and port of a switch.
[[nodiscard]] PatternCounts prove_pattern(const Topology& topology,
                                          const Collective& collective,
                                          LinkModel model,
                                          const Pattern& pattern,
                                          Violations& violations);

}  // namespace tacos
