// SPDX-License-Identifier: MIT
// How long messages are. Buffers, and the parts that collectives deal out, are cut alike, into as
// many chunks as the collective says; a slot of input or output is one of these cuts, always the
// same, but scratch is now one and then another. Which one a step moves is what its data say.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/loop.h"
#include "tacos/program.h"
#include "tacos/result.h"

namespace tacos::execution {

/// For the steps of an NPU, lane by lane: which cut of a part each moves. Fails when the program
/// cannot be run to its end.
[[nodiscard]] Result<std::vector<std::uint32_t>> cuts_of(const Program& program, NodeId npu);
/// The same with all rounds written out; one of them is run.
[[nodiscard]] Result<std::vector<std::uint32_t>> cuts_of(const Loop& loop, NodeId npu);

}  // namespace tacos::execution
