// SPDX-License-Identifier: MIT
// Runs thread blocks as MSCCL does: whichever is ready, in random order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tacos/program.h"

#include "export/runtimes/blocks.h"

namespace tacos::test {

/// Empty when everybody ended with the right result, or else what went wrong. FIFOs take so many
/// messages.
[[nodiscard]] std::string run_blocks(const Program& program,
                                     const exporting::BlockProgram& blocks,
                                     std::uint64_t seed,
                                     std::size_t fifo_slots);

}  // namespace tacos::test
