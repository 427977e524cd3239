// SPDX-License-Identifier: MIT
// Blocks taken apart into what must stay together: a step with those before it that only wait.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "export/runtimes/blocks.h"

namespace tacos::exporting {

struct Unit {
  std::uint32_t gpu = 0;
  std::uint32_t block = 0;
  BlockStep step;
  /// Units of the same GPU.
  std::vector<std::uint32_t> waits = {};
  /// Of a receive the send, of a send the receive.
  std::optional<std::uint32_t> other = {};
  /// A receive has the send that it was fused with, which then is nothing of its own.
  std::optional<std::uint32_t> sends_on = {};

  [[nodiscard]] bool receives() const {
    return step.op == BlockOp::kReceive || step.op == BlockOp::kReceiveReduce;
  }
};

/// By block of all GPUs, GPU by GPU: the units in their order.
struct UnitProgram {
  std::vector<Unit> units;
  std::vector<Block> blocks;
  std::vector<std::uint32_t> gpu_of;
  std::vector<std::vector<std::uint32_t>> order;
};

[[nodiscard]] UnitProgram take_apart(const BlockProgram& program);
[[nodiscard]] BlockProgram put_together(const UnitProgram& program, std::size_t gpus);

/// By unit: the longest chain of units before it, where a send waits for room in a FIFO of so many
/// messages; none when some wait for themselves.
[[nodiscard]] std::vector<std::uint32_t> chains(const UnitProgram& program,
                                                std::uint32_t fifo_slots);

}  // namespace tacos::exporting
