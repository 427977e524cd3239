// SPDX-License-Identifier: MIT
// Steps that receive and send at once.
//
// A block that receives and one that sends become one where the second mostly sends on what the
// first has just received, and waits for nothing else: the two steps become one. All that is then
// one block has one channel, along whole chains of blocks.
//
// Steps of one block are ordered by how long the longest chain before them is, fused steps counted
// as one, and room in FIFOs of so many messages as something to wait for. So every step waits for
// shorter chains only, and nothing can get stuck. Where there is no such order fewer blocks become
// one, or none.
#pragma once

#include <cstdint>

#include "export/runtimes/blocks.h"

namespace tacos::exporting {

/// O(steps log steps + blocks x channels).
[[nodiscard]] BlockProgram fuse(const BlockProgram& program,
                                const BlockLimits& limits,
                                std::uint32_t fifo_slots);

}  // namespace tacos::exporting
