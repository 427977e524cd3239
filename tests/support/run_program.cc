// SPDX-License-Identifier: MIT
#include "support/run_program.h"

#include <deque>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "base/numbers/rng.h"
#include "support/shares.h"

namespace tacos::test {
namespace {

struct Npus {
  const Program& program;
  std::vector<std::map<Slot, Data>> memory;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::deque<Data>> fifos;
  std::vector<std::vector<std::uint32_t>> next;

  [[nodiscard]] bool ready(std::uint32_t npu, std::uint32_t lane, std::size_t slots) {
    const NpuProgram& here = program.npus[npu];
    const Lane& one = here.lanes[lane];
    if (next[npu][lane] == one.steps.size()) {
      return false;
    }
    for (const Dependency& wait : here.dependencies_of(one.steps[next[npu][lane]])) {
      if (next[npu][wait.lane] <= wait.step) {
        return false;
      }
    }
    return one.role == LaneRole::kLocal ||
           (one.role == LaneRole::kSend ? fifos[{npu, one.peer.value(), one.channel}].size() < slots
                                        : !fifos[{one.peer.value(), npu, one.channel}].empty());
  }

  void step(std::uint32_t npu, std::uint32_t lane) {
    const Lane& one = program.npus[npu].lanes[lane];
    const Step& step = one.steps[next[npu][lane]++];
    std::map<Slot, Data>& slots = memory[npu];
    Data data;
    if (reads(step.kind)) {
      data = slots[step.from];
    }
    if (one.role == LaneRole::kSend) {
      fifos[{npu, one.peer.value(), one.channel}].push_back(data);
      return;
    }
    if (one.role == LaneRole::kReceive) {
      auto& fifo = fifos[{one.peer.value(), npu, one.channel}];
      data.insert(fifo.front().begin(), fifo.front().end());
      fifo.pop_front();
    }
    if (!writes(step.kind)) {
      return;
    }
    if (step.kind == StepKind::kReduce) {
      data.insert(slots[step.to].begin(), slots[step.to].end());
    }
    slots[step.to] = std::move(data);
  }
};

}  // namespace

std::string run_program(const Program& program, std::uint64_t seed, std::size_t fifo_slots) {
  const Collective& collective = program.collective;
  Npus machine{program, {}, {}, {}};
  machine.memory.resize(program.npus.size());
  for (const NpuProgram& npu : program.npus) {
    machine.next.emplace_back(npu.lanes.size(), 0);
  }
  Memory participants = memory_at_start(collective, program.in_place);
  for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
    machine.memory[collective.participants()[p].index()] = std::move(participants[p]);
  }
  Rng rng(seed);
  while (true) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ready;
    for (std::uint32_t npu = 0; npu < program.npus.size(); ++npu) {
      for (std::uint32_t lane = 0; lane < program.npus[npu].lanes.size(); ++lane) {
        if (machine.ready(npu, lane, fifo_slots)) {
          ready.emplace_back(npu, lane);
        }
      }
    }
    if (ready.empty()) {
      break;
    }
    const auto [npu, lane] = ready[rng.below(static_cast<std::uint32_t>(ready.size()))];
    machine.step(npu, lane);
  }
  for (std::uint32_t npu = 0; npu < program.npus.size(); ++npu) {
    for (std::uint32_t lane = 0; lane < program.npus[npu].lanes.size(); ++lane) {
      if (machine.next[npu][lane] != program.npus[npu].lanes[lane].steps.size()) {
        return "stuck";
      }
    }
  }
  for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
    participants[p] = std::move(machine.memory[collective.participants()[p].index()]);
  }
  return check_end(collective, program.in_place, participants);
}

}  // namespace tacos::test
