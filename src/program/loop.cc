// SPDX-License-Identifier: MIT
#include "tacos/loop.h"

#include <algorithm>
#include <utility>

namespace tacos {
namespace {

Slot slot_in(const LoopSlot& slot, std::uint32_t round, std::uint32_t stride) {
  const bool scratch = slot.first.buffer == Buffer::kScratch;
  return {slot.first.buffer, slot.first.index + (scratch ? round % slot.depth : round * stride)};
}

/// Where in its lane each step is done: by step and round.
std::vector<std::uint32_t> positions(std::span<const LoopTurn> turns, std::uint32_t rounds) {
  std::vector<std::uint32_t> at(turns.size());
  for (std::uint32_t i = 0; i < turns.size(); ++i) {
    at[std::size_t{turns[i].step} * rounds + turns[i].round] = i;
  }
  return at;
}

NpuProgram unroll(const NpuLoop& loop, std::uint32_t rounds, std::uint32_t stride) {
  NpuProgram program{.slots = loop.slots, .lanes = {}, .dependencies = {}};
  std::vector<std::vector<LoopTurn>> turns;
  std::vector<std::vector<std::uint32_t>> at;
  for (const LoopLane& lane : loop.lanes) {
    turns.push_back(turns_of(lane, rounds));
    at.push_back(positions(turns.back(), rounds));
  }
  program.dependencies.reserve(loop.dependencies.size() * rounds);
  for (std::size_t l = 0; l < loop.lanes.size(); ++l) {
    const LoopLane& lane = loop.lanes[l];
    std::vector<Step> steps;
    steps.reserve(turns[l].size());
    for (const auto [number, round] : turns[l]) {
      const LoopStep& step = lane.steps[number];
      const std::size_t first = program.dependencies.size();
      for (const LoopDependency& wait : loop.dependencies_of(step)) {
        if (wait.back > round) {
          continue;
        }
        const std::uint32_t position =
            at[wait.lane][std::size_t{wait.step} * rounds + round - wait.back];
        // The last step of a lane stands for all before it.
        if (program.dependencies.size() > first && program.dependencies.back().lane == wait.lane) {
          program.dependencies.back().step = std::max(program.dependencies.back().step, position);
        } else {
          program.dependencies.push_back({.lane = wait.lane, .step = position});
        }
      }
      steps.push_back(
          {.kind = step.kind,
           .from = reads(step.kind) ? slot_in(step.from, round, stride) : Slot{},
           .to = writes(step.kind) ? slot_in(step.to, round, stride) : Slot{},
           .first_dependency = static_cast<std::uint32_t>(first),
           .num_dependencies = static_cast<std::uint32_t>(program.dependencies.size() - first)});
    }
    program.lanes.push_back(
        {.role = lane.role, .peer = lane.peer, .channel = lane.channel, .steps = std::move(steps)});
  }
  return program;
}

Program unroll(const Loop& loop, std::uint32_t rounds) {
  Program program{.collective = loop.collective, .in_place = loop.in_place, .npus = {}};
  program.npus.reserve(loop.npus.size());
  for (const NpuLoop& npu : loop.npus) {
    program.npus.push_back(unroll(npu, rounds, loop.stride));
  }
  return program;
}

}  // namespace

std::vector<LoopTurn> turns_of(const LoopLane& lane, std::uint32_t rounds) {
  std::vector<LoopTurn> turns;
  turns.reserve(lane.steps.size() * rounds);
  for (std::uint32_t turn = 0; turns.size() < lane.steps.size() * rounds; ++turn) {
    for (std::uint32_t step = 0; step < lane.steps.size(); ++step) {
      const std::uint32_t lap = lane.steps[step].lap;
      if (lap <= turn && turn - lap < rounds) {
        turns.push_back({.step = step, .round = turn - lap});
      }
    }
  }
  return turns;
}

Program unroll(const Loop& loop) {
  return unroll(loop, loop.rounds);
}
NpuProgram unroll(const Loop& loop, NodeId npu) {
  return unroll(loop.npus[npu.index()], loop.rounds, loop.stride);
}
Program first_round(const Loop& loop) {
  return unroll(loop, 1);
}

}  // namespace tacos
