// SPDX-License-Identifier: MIT
// Runs a program as a machine could: whichever step is ready, in random order. The oracle of the
// referee, which looks at one order only.
#pragma once

#include <cstdint>
#include <string>

#include "tacos/program.h"

#include "verify/program_check.h"

namespace tacos::test {

/// Empty when everybody ended with the right result, or else what went wrong. FIFOs take so many
/// messages.
[[nodiscard]] std::string run_program(const Program& program,
                                      std::uint64_t seed,
                                      std::size_t fifo_slots);

/// What the referee says first against a program; empty when it is right.
[[nodiscard]] inline std::string first_of(const ProgramReport& report) {
  return report.valid() ? "" : report.violations.front();
}

}  // namespace tacos::test
