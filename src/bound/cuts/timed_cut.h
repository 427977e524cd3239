// SPDX-License-Identifier: MIT
// Bounds that count latency and bandwidth together.
#pragma once

#include <optional>
#include <vector>

#include "bound/instance.h"

namespace tacos {

/// The best cut with latency counted, among single NPUs (all, or as many as the effort allows) and
/// the sets in `cuts`. Nothing when no link has latency, or the arithmetic would not fit.
[[nodiscard]] std::optional<Certificate> best_timed_cut(
    const Instance& instance, const std::vector<std::vector<NodeId>>& cuts, BoundEffort effort);

}  // namespace tacos
