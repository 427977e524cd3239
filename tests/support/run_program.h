// SPDX-License-Identifier: MIT
// Runs a program as a machine could: whichever step is ready, in random order. The oracle of the
// referee, which looks at one order only.
#pragma once

#include <cstdint>
#include <string>

#include "tacos/program.h"

namespace tacos::test {

/// Empty when everybody ended with the right result, or else what went wrong. FIFOs take so many
/// messages.
[[nodiscard]] std::string run_program(const Program& program,
                                      std::uint64_t seed,
                                      std::size_t fifo_slots);

}  // namespace tacos::test
