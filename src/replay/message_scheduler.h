// SPDX-License-Identifier: MIT
// Times for messages of any sizes, given what they carry, over which routes, and who goes first.
#pragma once

#include <optional>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos::replay {

/// Of messages some of which are under way: the first ones start when they say, the others no
/// sooner than `at`. The first are in each other's way nowhere, and end after `at`.
struct Beginning {
  std::size_t under_way = 0;
  Ticks at = {};
};

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
                                                        Ticks limit = kMaxTime,
                                                        const Beginning& beginning = {});

}  // namespace tacos::replay
