// SPDX-License-Identifier: MIT
// The referee of programs. It knows the program alone: no schedule, no network, no times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tacos/program.h"

namespace tacos {

struct ProgramReport {
  std::vector<std::string> violations;
  std::uint64_t steps = 0;
  /// So many messages must fit into a FIFO, or the program can get stuck; 0 when it does anyway.
  std::uint32_t fifo_slots = 0;

  [[nodiscard]] bool valid() const { return violations.empty(); }
};

/// Whether every receive has its send, no slot is used by two steps that nothing orders, nothing
/// waits for itself, and everybody ends with the right result, in whatever order steps are taken
/// that lanes and dependencies allow.
[[nodiscard]] ProgramReport check_program(const Program& program, std::size_t max_violations = 10);

}  // namespace tacos
