// SPDX-License-Identifier: MIT
// What messages between processes take: measured, one wire after the other, then all at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tacos/execute.h"
#include "tacos/result.h"

#include "base/parallel/team.h"

namespace tacos::execution {

/// A way from one process to another; of several between two, which.
struct Wire {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t channel = 0;
};

/// In seconds, and bytes a second.
struct WireSpeed {
  /// Of a small message.
  double latency = 0;
  double bandwidth = 0;
  /// What a message costs beyond its bytes.
  double gap = 0;
  /// While all wires are busy.
  double bandwidth_together = 0;
};

/// Wires in rounds in which no process has two.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> disjoint_rounds(std::span<const Wire> wires);

/// By all members of the team, which all get the speeds of all wires. Medians of several runs, and
/// about a fifth of a second for each round. Fails when somebody does not answer.
[[nodiscard]] Result<std::vector<WireSpeed>> probe(
    Team& team,
    Transport& transport,
    std::span<const Wire> wires,
    const std::function<void(double)>& progress = {});

}  // namespace tacos::execution
