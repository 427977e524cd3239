// SPDX-License-Identifier: MIT
// Which process is which NPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/execute.h"
#include "tacos/program.h"

namespace tacos::execution {

struct Placement {
  /// By process.
  std::vector<NodeId> npus;
  /// What executors want to know (ExecuteOptions).
  std::vector<std::uint32_t> processes;
  std::vector<std::uint32_t> positions;
  /// Position of the root of a collective that has one.
  std::uint32_t root = 0;

  [[nodiscard]] ExecuteOptions options() const {
    ExecuteOptions made;
    made.processes = processes;
    made.positions = positions;
    return made;
  }
};

/// The NPUs that have something to do or take part, increasing.
[[nodiscard]] std::vector<NodeId> acting_npus(const Program& program);

/// With a process for every NPU, or for every one that acts. `order` names them process by process;
/// empty: increasing. Parts are in the order of processes.
[[nodiscard]] Result<Placement> place(const Program& program,
                                      std::uint32_t processes,
                                      std::span<const NodeId> order = {});

}  // namespace tacos::execution
