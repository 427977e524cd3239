// SPDX-License-Identifier: MIT
// The chunk-count bound: whole chunks through a cut, one transfer each.
#pragma once

#include <optional>
#include <vector>

#include "bound/instance.h"

namespace tacos {

/// The best among all cuts around single NPUs and the sets in `cuts`. Not for All-to-All.
[[nodiscard]] std::optional<Certificate> best_chunk_count(
    const Instance& instance, LinkModel model, const std::vector<std::vector<NodeId>>& cuts);

}  // namespace tacos
