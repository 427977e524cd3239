// SPDX-License-Identifier: MIT
// Runs the program of all NPUs with the numbers of cuts for data. Steps that nothing orders do not
// use one slot, so that any order shows the same.
//
// O(steps + dependencies of all NPUs); a number for each step.
#include "execute/cuts.h"

#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "program/lane_peers.h"

namespace tacos::execution {
namespace {

class DryRun {
 public:
  explicit DryRun(const Program& program)
      : program_(program),
        cuts_(static_cast<std::uint32_t>(program.collective.chunk_argument())),
        peers_(lane_peers(program)),
        scratch_(program.npus.size()) {
    for (std::uint32_t npu = 0; npu < program.npus.size(); ++npu) {
      scratch_[npu].resize(program.npus[npu].slots.scratch, 0);
      for (const Lane& lane : program.npus[npu].lanes) {
        lanes_.push_back({.npu = npu,
                          .lane = &lane,
                          .peer = peers_.peer[lanes_.size()],
                          .cuts = {},
                          .waiting = {}});
        lanes_.back().cuts.reserve(lane.steps.size());
      }
    }
  }

  void run() {
    std::vector<std::size_t> ready(lanes_.size());
    for (std::size_t lane = 0; lane < ready.size(); ++lane) {
      ready[lane] = lane;
    }
    while (!ready.empty()) {
      const std::size_t lane = ready.back();
      ready.pop_back();
      go_on(lane, ready);
    }
  }

  [[nodiscard]] Result<std::vector<std::uint32_t>> cuts(NodeId npu) const {
    std::vector<std::uint32_t> all;
    const std::size_t first = peers_.first[npu.index()];
    for (std::size_t i = 0; i < program_.npus[npu.index()].lanes.size(); ++i) {
      const State& one = lanes_[first + i];
      if (one.cuts.size() < one.lane->steps.size()) {
        return input_error(fmt::format(
            "the program gets stuck: NPU {}, step {} of lane {}", npu.value(), one.cuts.size(), i));
      }
      all.insert(all.end(), one.cuts.begin(), one.cuts.end());
    }
    return all;
  }

 private:
  struct State {
    std::uint32_t npu = 0;
    const Lane* lane = nullptr;
    /// The other end of its FIFO.
    std::size_t peer = LanePeers::kNobody;
    /// Of the steps that are done.
    std::vector<std::uint32_t> cuts;
    /// Lanes that wait for it.
    std::vector<std::size_t> waiting;
  };

  void go_on(std::size_t number, std::vector<std::size_t>& ready) {
    State& self = lanes_[number];
    const std::size_t before = self.cuts.size();
    while (self.cuts.size() < self.lane->steps.size()) {
      State* const other = waits_for(self);
      if (other == &self) {
        break;
      }
      if (other != nullptr) {
        other->waiting.push_back(number);
        break;
      }
      do_step(self);
    }
    if (self.cuts.size() > before) {
      ready.insert(ready.end(), self.waiting.begin(), self.waiting.end());
      self.waiting.clear();
    }
  }

  /// Null when nothing holds it up; itself when nobody will ever send.
  [[nodiscard]] State* waits_for(State& self) {
    const NpuProgram& here = program_.npus[self.npu];
    for (const Dependency& wait : here.dependencies_of(self.lane->steps[self.cuts.size()])) {
      State& other = lanes_[peers_.first[self.npu] + wait.lane];
      if (other.cuts.size() <= wait.step) {
        return &other;
      }
    }
    if (self.lane->role != LaneRole::kReceive) {
      return nullptr;
    }
    if (self.peer == LanePeers::kNobody) {
      return &self;
    }
    State& peer = lanes_[self.peer];
    return self.cuts.size() >= peer.cuts.size() ? &peer : nullptr;
  }

  [[nodiscard]] std::uint32_t cut_of(std::uint32_t npu, Slot slot) const {
    return slot.buffer == Buffer::kScratch ? scratch_[npu][slot.index] : slot.index % cuts_;
  }

  void do_step(State& self) {
    const Step& step = self.lane->steps[self.cuts.size()];
    const bool receives = self.lane->role == LaneRole::kReceive;
    const std::uint32_t cut =
        receives ? lanes_[self.peer].cuts[self.cuts.size()] : cut_of(self.npu, step.from);
    if (writes(step.kind) && step.to.buffer == Buffer::kScratch) {
      scratch_[self.npu][step.to.index] = cut;
    }
    self.cuts.push_back(cut);
  }

  const Program& program_;
  std::uint32_t cuts_;
  LanePeers peers_;
  std::vector<State> lanes_;
  /// By NPU and slot: the cut that is there.
  std::vector<std::vector<std::uint32_t>> scratch_;
};

}  // namespace

Result<std::vector<std::uint32_t>> cuts_of(const Program& program, NodeId npu) {
  DryRun run(program);
  run.run();
  return run.cuts(npu);
}

Result<std::vector<std::uint32_t>> cuts_of(const Loop& loop, NodeId npu) {
  const Result<std::vector<std::uint32_t>> first = cuts_of(first_round(loop), npu);
  if (!first) {
    return first.error();
  }
  std::vector<std::uint32_t> cuts;
  auto next = first->begin();
  for (const LoopLane& lane : loop.npus[npu.index()].lanes) {
    std::vector<std::uint32_t> of_step(lane.steps.size());
    for (const LoopTurn& turn : turns_of(lane, 1)) {
      of_step[turn.step] = *next++;
    }
    for (const LoopTurn& turn : turns_of(lane, loop.rounds)) {
      cuts.push_back(of_step[turn.step] + turn.round * loop.stride);
    }
  }
  return cuts;
}

}  // namespace tacos::execution
