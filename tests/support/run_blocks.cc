// SPDX-License-Identifier: MIT
#include "support/run_blocks.h"

#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/numbers/rng.h"
#include "support/shares.h"

namespace tacos::test {
namespace {

using exporting::Block;
using exporting::BlockOp;
using exporting::BlockStep;

bool receives(BlockOp op) {
  return op == BlockOp::kReceive || op == BlockOp::kReceiveReduce ||
         op == BlockOp::kReceiveCopySend || op == BlockOp::kReceiveReduceCopySend ||
         op == BlockOp::kReceiveReduceSend;
}
bool sends(BlockOp op) {
  return op == BlockOp::kSend || op == BlockOp::kReceiveCopySend ||
         op == BlockOp::kReceiveReduceCopySend || op == BlockOp::kReceiveReduceSend;
}
bool reads(BlockOp op) {
  return op != BlockOp::kReceive && op != BlockOp::kReceiveCopySend;
}
bool writes(BlockOp op) {
  return op != BlockOp::kSend && op != BlockOp::kReceiveReduceSend;
}

struct Machine {
  const std::vector<std::vector<Block>>& gpus;
  Memory memory;
  std::map<std::tuple<std::size_t, std::size_t, std::uint32_t>, std::deque<std::vector<Data>>>
      fifos;
  std::vector<std::vector<std::size_t>> next;

  auto& inbound(std::size_t gpu, const Block& block) {
    return fifos[{static_cast<std::size_t>(block.receive), gpu, block.channel}];
  }
  auto& outbound(std::size_t gpu, const Block& block) {
    return fifos[{gpu, static_cast<std::size_t>(block.send), block.channel}];
  }

  [[nodiscard]] bool ready(std::size_t gpu, std::size_t number, std::size_t slots) {
    const Block& block = gpus[gpu][number];
    if (next[gpu][number] == block.steps.size()) {
      return false;
    }
    const BlockStep& step = block.steps[next[gpu][number]];
    return (step.wait_block < 0 || next[gpu][static_cast<std::size_t>(step.wait_block)] >
                                       static_cast<std::size_t>(step.wait_step)) &&
           (!receives(step.op) || !inbound(gpu, block).empty()) &&
           (!sends(step.op) || outbound(gpu, block).size() < slots);
  }

  void step(std::size_t gpu, std::size_t number) {
    const Block& block = gpus[gpu][number];
    const BlockStep& step = block.steps[next[gpu][number]++];
    std::vector<Data> message(step.count);
    if (receives(step.op)) {
      message = inbound(gpu, block).front();
      inbound(gpu, block).pop_front();
      if (message.size() != step.count) {
        message.clear();
      }
    }
    for (std::uint32_t i = 0; i < message.size() && step.op != BlockOp::kNop; ++i) {
      Slot from = step.from;
      Slot to = step.to;
      from.index += i;
      to.index += i;
      if (reads(step.op)) {
        message[i].insert(memory[gpu][from].begin(), memory[gpu][from].end());
      }
      if (step.op == BlockOp::kReduce) {
        message[i].insert(memory[gpu][to].begin(), memory[gpu][to].end());
      }
      if (writes(step.op)) {
        memory[gpu][to] = message[i];
      }
    }
    if (sends(step.op)) {
      outbound(gpu, block).push_back(std::move(message));
    }
  }
};

}  // namespace

std::string run_blocks(const Program& program,
                       const exporting::BlockProgram& blocks,
                       std::uint64_t seed,
                       std::size_t fifo_slots) {
  Machine machine{blocks.gpus, memory_at_start(program.collective, program.in_place), {}, {}};
  std::size_t left = 0;
  for (const std::vector<Block>& gpu : blocks.gpus) {
    machine.next.emplace_back(gpu.size(), 0);
    for (const Block& block : gpu) {
      left += block.steps.size();
    }
  }
  Rng rng(seed);
  for (; left > 0; --left) {
    std::vector<std::pair<std::size_t, std::size_t>> ready;
    for (std::size_t gpu = 0; gpu < blocks.gpus.size(); ++gpu) {
      for (std::size_t block = 0; block < blocks.gpus[gpu].size(); ++block) {
        if (machine.ready(gpu, block, fifo_slots)) {
          ready.emplace_back(gpu, block);
        }
      }
    }
    if (ready.empty()) {
      return "stuck";
    }
    const auto [gpu, block] = ready[rng.below(static_cast<std::uint32_t>(ready.size()))];
    machine.step(gpu, block);
  }
  return check_end(program.collective, program.in_place, machine.memory);
}

}  // namespace tacos::test
