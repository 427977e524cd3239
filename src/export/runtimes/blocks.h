// SPDX-License-Identifier: MIT
// A program as thread blocks, which is how MSCCL and its relatives run one: each sends to one peer
// and receives from one at most, on one channel, and does its steps in order.
//
// Every lane becomes a block, or several on further channels where it has more steps than a block
// may have. A step waits for one other at most; where a program says more, steps that do nothing
// wait for the others before it. Neighbouring chunks that go together become one step, and so do a
// receive and the send that sends it on (fused.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tacos/program.h"
#include "tacos/result.h"

namespace tacos::exporting {

/// What a runtime takes.
struct BlockLimits {
  std::string_view runtime;
  std::uint32_t steps = 256;
  std::uint32_t blocks = 216;
  std::uint32_t channels = 32;
  /// Blocks of an NPU that send, or receive, on one channel.
  std::uint32_t blocks_per_channel = 32;
  /// Chunks in one step.
  std::uint32_t count = 71;
  /// Blocks that others can wait for.
  std::uint32_t waited_for = 128;
  /// Elements that it reads of one NPU: blocks, steps, and one for each NPU.
  std::uint32_t elements = 4096;
};

enum class BlockOp : std::uint8_t {
  kNop,
  kSend,
  kReceive,
  kReceiveReduce,
  kCopy,
  kReduce,
  // Fused: what is received, or the sum, is sent on at once.
  kReceiveCopySend,
  kReceiveReduceCopySend,
  kReceiveReduceSend,  ///< and is not kept
};

struct BlockStep {
  BlockOp op = BlockOp::kNop;
  Slot from;
  Slot to;
  std::uint32_t count = 0;
  /// Block and step; -1 for none.
  std::int32_t wait_block = -1;
  std::int32_t wait_step = -1;
  bool waited_for = false;
};

struct Block {
  /// Numbers of participants; -1 for none.
  std::int32_t send = -1;
  std::int32_t receive = -1;
  std::uint32_t channel = 0;
  std::vector<BlockStep> steps;
};

struct BlockProgram {
  /// By participant.
  std::vector<std::vector<Block>> gpus;
  std::uint32_t channels = 1;
};

/// Refuses what does not fit, with the limit, the value and what would help.
[[nodiscard]] Result<BlockProgram> to_blocks(const Program& program, const BlockLimits& limits);

}  // namespace tacos::exporting
