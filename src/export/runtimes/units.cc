// SPDX-License-Identifier: MIT
#include "export/runtimes/units.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tacos::exporting {
namespace {

/// The unit that stands for another: the receive for a send that it was fused with.
std::vector<std::uint32_t> stand_ins(const UnitProgram& program) {
  std::vector<std::uint32_t> stand_in(program.units.size());
  for (std::uint32_t id = 0; id < stand_in.size(); ++id) {
    stand_in[id] = id;
  }
  for (std::uint32_t id = 0; id < stand_in.size(); ++id) {
    if (program.units[id].sends_on) {
      stand_in[*program.units[id].sends_on] = id;
    }
  }
  return stand_in;
}

/// Sends and receives in the order of their FIFOs.
void match(UnitProgram& program) {
  // Channel, source and destination.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::uint32_t> sender;
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    const Block& block = program.blocks[b];
    if (block.send >= 0) {
      sender[{block.channel, program.gpu_of[b], static_cast<std::uint32_t>(block.send)}] = b;
    }
  }
  for (std::uint32_t b = 0; b < program.blocks.size(); ++b) {
    const Block& block = program.blocks[b];
    if (block.receive < 0) {
      continue;
    }
    const std::uint32_t from =
        sender.at({block.channel, static_cast<std::uint32_t>(block.receive), program.gpu_of[b]});
    for (std::size_t i = 0; i < program.order[b].size(); ++i) {
      program.units[program.order[b][i]].other = program.order[from][i];
      program.units[program.order[from][i]].other = program.order[b][i];
    }
  }
}

/// By unit: whom it waits for, without what its own block has done before, and of another block
/// only the last.
std::vector<std::vector<std::uint32_t>> needed_waits(const UnitProgram& program) {
  const std::vector<std::uint32_t> stand_in = stand_ins(program);
  // By unit: its block now, and its place there.
  std::vector<std::pair<std::size_t, std::size_t>> at(program.units.size());
  for (std::size_t b = 0; b < program.order.size(); ++b) {
    for (std::size_t i = 0; i < program.order[b].size(); ++i) {
      at[program.order[b][i]] = {b, i};
    }
  }
  std::vector<std::vector<std::uint32_t>> needed(program.units.size());
  for (std::uint32_t id = 0; id < program.units.size(); ++id) {
    for (const std::uint32_t wait : program.units[id].waits) {
      const std::uint32_t other = stand_in[wait];
      const auto same =
          std::find_if(needed[id].begin(), needed[id].end(), [&](std::uint32_t known) {
            return at[known].first == at[other].first;
          });
      if (at[other].first == at[id].first) {
        continue;
      }
      if (same == needed[id].end()) {
        needed[id].push_back(other);
      } else if (at[*same].second < at[other].second) {
        *same = other;
      }
    }
  }
  return needed;
}

}  // namespace

UnitProgram take_apart(const BlockProgram& program) {
  UnitProgram made;
  for (std::uint32_t gpu = 0; gpu < program.gpus.size(); ++gpu) {
    const std::vector<Block>& blocks = program.gpus[gpu];
    // By block and step of this GPU, its unit.
    std::vector<std::vector<std::uint32_t>> unit_of(blocks.size());
    const auto first = static_cast<std::uint32_t>(made.units.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      made.blocks.push_back(
          {blocks[b].send, blocks[b].receive, blocks[b].channel, std::vector<BlockStep>()});
      made.gpu_of.push_back(gpu);
      made.order.emplace_back();
      for (const BlockStep& step : blocks[b].steps) {
        unit_of[b].push_back(static_cast<std::uint32_t>(made.units.size()));
        if (step.op != BlockOp::kNop) {
          made.order.back().push_back(unit_of[b].back());
          made.units.push_back({.gpu = gpu, .block = b, .step = step});
        }
      }
    }
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      for (std::size_t s = 0; s < blocks[b].steps.size(); ++s) {
        const BlockStep& step = blocks[b].steps[s];
        if (step.wait_block >= 0) {
          made.units[unit_of[b][s]].waits.push_back(unit_of[static_cast<std::size_t>(
              step.wait_block)][static_cast<std::size_t>(step.wait_step)]);
        }
      }
    }
    for (std::uint32_t id = first; id < made.units.size(); ++id) {
      made.units[id].step.wait_block = -1;
      made.units[id].step.wait_step = -1;
      made.units[id].step.waited_for = false;
    }
  }
  match(made);
  return made;
}

BlockProgram put_together(const UnitProgram& program, std::size_t gpus) {
  const std::vector<std::vector<std::uint32_t>> waits = needed_waits(program);
  BlockProgram made;
  made.gpus.resize(gpus);
  // By unit: where it is now.
  std::vector<std::pair<std::int32_t, std::int32_t>> at(program.units.size());
  for (std::size_t b = 0; b < program.blocks.size(); ++b) {
    if (program.order[b].empty()) {
      continue;
    }
    std::vector<Block>& blocks = made.gpus[program.gpu_of[b]];
    Block block = program.blocks[b];
    for (const std::uint32_t id : program.order[b]) {
      const std::size_t nops = std::max<std::size_t>(1, waits[id].size()) - 1;
      block.steps.resize(block.steps.size() + nops);
      at[id] = {static_cast<std::int32_t>(blocks.size()),
                static_cast<std::int32_t>(block.steps.size())};
      block.steps.push_back(program.units[id].step);
    }
    made.channels = std::max(made.channels, block.channel + 1);
    blocks.push_back(std::move(block));
  }
  for (const std::vector<std::uint32_t>& order : program.order) {
    for (const std::uint32_t id : order) {
      const Unit& unit = program.units[id];
      std::vector<Block>& blocks = made.gpus[unit.gpu];
      for (std::size_t w = 0; w < waits[id].size(); ++w) {
        const auto& [block, last] = at[id];
        const auto& [other, step] = at[waits[id][w]];
        const auto back = static_cast<std::int32_t>(waits[id].size() - 1 - w);
        BlockStep& self =
            blocks[static_cast<std::size_t>(block)].steps[static_cast<std::size_t>(last - back)];
        self.wait_block = other;
        self.wait_step = step;
        blocks[static_cast<std::size_t>(other)].steps[static_cast<std::size_t>(step)].waited_for =
            true;
      }
    }
  }
  return made;
}

std::vector<std::uint32_t> chains(const UnitProgram& program, std::uint32_t fifo_slots) {
  const std::vector<std::uint32_t> stand_in = stand_ins(program);
  std::vector<std::vector<std::uint32_t>> after(program.units.size());
  std::vector<std::uint32_t> missing(program.units.size(), 0);
  const auto add = [&](std::uint32_t before, std::uint32_t behind) {
    after[stand_in[before]].push_back(stand_in[behind]);
    ++missing[stand_in[behind]];
  };
  for (std::uint32_t id = 0; id < program.units.size(); ++id) {
    const Unit& unit = program.units[id];
    for (const std::uint32_t wait : unit.waits) {
      add(wait, id);
    }
    if (unit.receives()) {
      add(*unit.other, id);
    }
    // Units of a block, as it was, have numbers that follow each other.
    const auto comes_behind = [&](std::uint32_t steps) {
      return id >= steps && program.units[id - steps].gpu == unit.gpu &&
             program.units[id - steps].block == unit.block;
    };
    if (comes_behind(1)) {
      add(id - 1, id);
    }
    if (unit.receives() && comes_behind(fifo_slots)) {
      add(id - fifo_slots, *unit.other);
    }
  }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t id = 0; id < program.units.size(); ++id) {
    if (stand_in[id] == id && missing[id] == 0) {
      ready.push_back(id);
    }
  }
  std::vector<std::uint32_t> length(program.units.size(), 0);
  for (std::size_t done = 0; done < ready.size(); ++done) {
    for (const std::uint32_t next : after[ready[done]]) {
      length[next] = std::max(length[next], length[ready[done]] + 1);
      if (--missing[next] == 0) {
        ready.push_back(next);
      }
    }
  }
  const auto live = static_cast<std::size_t>(std::count_if(
      stand_in.begin(), stand_in.end(), [&, id = std::uint32_t{0}](std::uint32_t other) mutable {
        return other == id++;
      }));
  if (ready.size() < live) {
    return {};
  }
  return length;
}

}  // namespace tacos::exporting
