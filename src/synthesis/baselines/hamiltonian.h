// SPDX-License-Identifier: MIT
// A round trip over all participants from neighbour to neighbour.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "synthesis/baselines/baseline.h"

namespace tacos::baselines {

/// Participants in the order of a cycle in which each can send to the next past no NPU; nothing
/// when none was found, though there may be one. A path is grown to the neighbour with the fewest
/// ways on (Warnsdorff), and turned round where it cannot grow (Posa 1976). O(participants^2) to
/// look, steps of O(participants), at most 200 for each participant.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> find_cycle(const Setup& setup);

}  // namespace tacos::baselines
