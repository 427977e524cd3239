// SPDX-License-Identifier: MIT
// Lets lanes go on for as long as they can. One that cannot is woken by the lane that it waits for.
#include "lower/fifos.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "program/lane_peers.h"

namespace tacos::lowering {
namespace {

class Machine {
 public:
  Machine(const Program& program, std::uint32_t slots)
      : program_(program), slots_(slots), peers_(lane_peers(program)) {
    for (std::uint32_t npu = 0; npu < program.npus.size(); ++npu) {
      for (const Lane& lane : program.npus[npu].lanes) {
        lanes_.push_back(
            {.npu = npu, .lane = &lane, .peer = peers_.peer[lanes_.size()], .waiting = {}});
      }
    }
  }

  bool run() {
    std::vector<std::size_t> ready(lanes_.size());
    for (std::size_t lane = 0; lane < ready.size(); ++lane) {
      ready[lane] = lane;
    }
    while (!ready.empty()) {
      const std::size_t lane = ready.back();
      ready.pop_back();
      go_on(lane, ready);
    }
    return std::all_of(lanes_.begin(), lanes_.end(), [](const State& one) {
      return one.done == one.lane->steps.size();
    });
  }

 private:
  struct State {
    std::uint32_t npu = 0;
    const Lane* lane = nullptr;
    /// The other end of its FIFO.
    std::size_t peer = LanePeers::kNobody;
    std::uint32_t done = 0;
    /// Lanes that wait for it.
    std::vector<std::size_t> waiting;
  };

  void go_on(std::size_t number, std::vector<std::size_t>& ready) {
    State& self = lanes_[number];
    const std::uint32_t before = self.done;
    while (self.done < self.lane->steps.size()) {
      State* const other = waits_for(self);
      if (other != nullptr) {
        other->waiting.push_back(number);
        break;
      }
      ++self.done;
    }
    if (self.done > before) {
      ready.insert(ready.end(), self.waiting.begin(), self.waiting.end());
      self.waiting.clear();
    }
  }

  /// Null when nothing holds it up.
  [[nodiscard]] State* waits_for(const State& self) {
    const NpuProgram& here = program_.npus[self.npu];
    for (const Dependency& wait : here.dependencies_of(self.lane->steps[self.done])) {
      State& other = lanes_[peers_.first[self.npu] + wait.lane];
      if (other.done <= wait.step) {
        return &other;
      }
    }
    if (self.lane->role == LaneRole::kLocal) {
      return nullptr;
    }
    State& peer = lanes_[self.peer];
    const bool full = self.lane->role == LaneRole::kSend && self.done >= peer.done + slots_;
    const bool empty = self.lane->role == LaneRole::kReceive && self.done >= peer.done;
    return full || empty ? &peer : nullptr;
  }

  const Program& program_;
  std::uint32_t slots_;
  LanePeers peers_;
  std::vector<State> lanes_;
};

}  // namespace

bool ends_with_fifos(const Program& program, std::uint32_t slots) {
  return Machine(program, slots).run();
}

}  // namespace tacos::lowering
