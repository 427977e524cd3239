// SPDX-License-Identifier: MIT
// Runs the program of all NPUs with the numbers of cuts for data. Steps that nothing orders do not
// use one slot, so that any order shows the same.
//
// O(steps + dependencies of all NPUs); a number for each step.
#include "execute/cuts.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace tacos::execution {
namespace {

class Machine {
 public:
  explicit Machine(const Program& program)
      : program_(program),
        cuts_(static_cast<std::uint32_t>(program.collective.chunk_argument())),
        scratch_(program.npus.size()) {
    using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::size_t>;
    std::vector<Key> ends;
    for (std::uint32_t npu = 0; npu < program.npus.size(); ++npu) {
      first_.push_back(lanes_.size());
      scratch_[npu].resize(program.npus[npu].slots.scratch, 0);
      for (const Lane& lane : program.npus[npu].lanes) {
        const std::uint32_t peer = lane.peer.value();
        if (lane.role == LaneRole::kSend) {
          ends.emplace_back(npu, peer, lane.channel, lanes_.size());
        } else if (lane.role == LaneRole::kReceive) {
          ends.emplace_back(peer, npu, lane.channel, lanes_.size());
        }
        lanes_.push_back({.npu = npu, .lane = &lane, .peer = kNobody, .cuts = {}, .waiting = {}});
        lanes_.back().cuts.reserve(lane.steps.size());
      }
    }
    // The two ends of a FIFO come one after the other.
    std::sort(ends.begin(), ends.end());
    for (std::size_t i = 0; i + 1 < ends.size(); ++i) {
      const auto [src, dst, channel, one] = ends[i];
      if (std::tie(src, dst, channel) ==
          std::tie(std::get<0>(ends[i + 1]), std::get<1>(ends[i + 1]), std::get<2>(ends[i + 1]))) {
        const std::size_t other = std::get<3>(ends[i + 1]);
        lanes_[one].peer = other;
        lanes_[other].peer = one;
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
    const std::size_t first = first_[npu.index()];
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
  static constexpr std::size_t kNobody = ~std::size_t{0};

  struct State {
    std::uint32_t npu = 0;
    const Lane* lane = nullptr;
    /// The other end of its FIFO.
    std::size_t peer = kNobody;
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
      State& other = lanes_[first_[self.npu] + wait.lane];
      if (other.cuts.size() <= wait.step) {
        return &other;
      }
    }
    if (self.lane->role != LaneRole::kReceive) {
      return nullptr;
    }
    if (self.peer == kNobody) {
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
    if (step.kind != StepKind::kSend && step.to.buffer == Buffer::kScratch) {
      scratch_[self.npu][step.to.index] = cut;
    }
    self.cuts.push_back(cut);
  }

  const Program& program_;
  std::uint32_t cuts_;
  /// By NPU: its first lane.
  std::vector<std::size_t> first_;
  std::vector<State> lanes_;
  /// By NPU and slot: the cut that is there.
  std::vector<std::vector<std::uint32_t>> scratch_;
};

}  // namespace

Result<std::vector<std::uint32_t>> cuts_of(const Program& program, NodeId npu) {
  Machine machine(program);
  machine.run();
  return machine.cuts(npu);
}

}  // namespace tacos::execution
