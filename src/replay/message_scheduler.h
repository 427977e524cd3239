// SPDX-License-Identifier: MIT
// Times for messages of any sizes, given what they carry, over which routes, and who goes first.
#pragma once

#include <optional>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos::replay {

/// List scheduling. `messages` are in order of precedence, their times do not matter, and each
/// comes after those that bring what it sends. A link that is free takes the first message that can
/// start: its source holds what the messages before it bring there, nothing before it still sends
/// what it changes, and its whole route is free. Nothing when it would last until `limit` or
/// longer.
///
/// O(moves + messages x links x log messages), 24 bytes for each (NPU, chunk).
[[nodiscard]] std::optional<Schedule> schedule_messages(const Topology& topology,
                                                        const Collective& collective,
                                                        LinkModel model,
                                                        const TransferBatch& messages,
                                                        Ticks limit = kMaxTime);

}  // namespace tacos::replay
