// SPDX-License-Identifier: MIT
#include "export/runtimes/beats.h"

#include <algorithm>
#include <utility>

#include "export/runtimes/fitting.h"
#include "program/lane_peers.h"

namespace tacos::exporting {
namespace {

class Timing {
 public:
  Timing(const Program& program, std::uint32_t width) : program_(program), width_(width) {
    std::uint32_t lanes = 0;
    for (std::uint32_t npu = 0; npu < program.npus.size(); ++npu) {
      first_lane_.push_back(lanes);
      for (std::uint32_t lane = 0; lane < program.npus[npu].lanes.size(); ++lane) {
        first_step_.push_back(static_cast<std::uint32_t>(beats_.steps.size()));
        for (const Step& step : program.npus[npu].lanes[lane].steps) {
          beats_.steps.push_back({.npu = npu, .lane = lane, .step = &step});
        }
        ++lanes;
      }
    }
    match_ends();
    list_edges();
  }

  Beats run() {
    const std::vector<std::uint32_t> order = topological();
    sent_.resize(first_step_.size());
    for (const std::uint32_t id : order) {
      step(id).beat = earliest(id);
      beats_.count = std::max(beats_.count, step(id).beat + 1);
    }
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      step(*id).due = latest(*id);
    }
    beats_.order = order;
    std::stable_sort(beats_.order.begin(), beats_.order.end(), [&](auto a, auto b) {
      return step(a).time() < step(b).time();
    });
    return std::move(beats_);
  }

 private:
  [[nodiscard]] BeatStep& step(std::uint32_t id) { return beats_.steps[id]; }
  [[nodiscard]] std::uint32_t id_of(std::uint32_t npu, const Dependency& at) const {
    return first_step_[first_lane_[npu] + at.lane] + at.step;
  }
  [[nodiscard]] bool sends(std::uint32_t id) { return step(id).sends(); }

  void match_ends() {
    const LanePeers peers = lane_peers(program_);
    std::size_t lane = 0;
    for (const NpuProgram& npu : program_.npus) {
      for (const Lane& one : npu.lanes) {
        for (std::uint32_t m = 0; one.role != LaneRole::kLocal && m < one.steps.size(); ++m) {
          step(first_step_[lane] + m).other = first_step_[peers.peer[lane]] + m;
        }
        ++lane;
      }
    }
  }

  /// Who comes behind whom: in a lane, by a dependency, or as the receive of a send.
  void list_edges() {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    for (std::uint32_t id = 0; id < beats_.steps.size(); ++id) {
      const BeatStep& one = beats_.steps[id];
      const NpuProgram& here = program_.npus[one.npu];
      if (one.step != here.lanes[one.lane].steps.data()) {
        edges.emplace_back(id - 1, id);
      }
      if (here.lanes[one.lane].role == LaneRole::kReceive) {
        edges.emplace_back(one.other, id);
      }
      for (const Dependency& wait : here.dependencies_of(*one.step)) {
        edges.emplace_back(id_of(one.npu, wait), id);
      }
    }
    std::sort(edges.begin(), edges.end());
    waits_.assign(beats_.steps.size(), 0);
    first_edge_.assign(beats_.steps.size() + 1, 0);
    for (const auto& [before, after] : edges) {
      ++first_edge_[before + 1];
      ++waits_[after];
      after_.push_back(after);
    }
    for (std::size_t id = 0; id < beats_.steps.size(); ++id) {
      first_edge_[id + 1] += first_edge_[id];
    }
  }
  [[nodiscard]] std::span<const std::uint32_t> after(std::uint32_t id) const {
    return std::span(after_).subspan(first_edge_[id], first_edge_[id + 1] - first_edge_[id]);
  }

  [[nodiscard]] std::vector<std::uint32_t> topological() {
    std::vector<std::uint32_t> order;
    order.reserve(beats_.steps.size());
    for (std::uint32_t id = 0; id < beats_.steps.size(); ++id) {
      if (waits_[id] == 0) {
        order.push_back(id);
      }
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
      for (const std::uint32_t next : after(order[done])) {
        if (--waits_[next] == 0) {
          order.push_back(next);
        }
      }
    }
    return order;
  }

  /// Whether a send goes with the one before it, as neighbours at both ends.
  [[nodiscard]] bool joins(std::uint32_t id) {
    const BeatStep& one = step(id);
    return program_.npus[one.npu].dependencies_of(*one.step).empty() &&
           follows(one.step->from, step(id - 1).step->from) &&
           follows(step(one.other).step->to, step(one.other - 1).step->to);
  }

  std::uint32_t earliest(std::uint32_t id) {
    const BeatStep& one = step(id);
    const NpuProgram& here = program_.npus[one.npu];
    const bool first = one.step == here.lanes[one.lane].steps.data();
    std::uint32_t beat = first ? 0 : step(id - 1).beat;
    for (const Dependency& wait : here.dependencies_of(*one.step)) {
      const std::uint32_t before = id_of(one.npu, wait);
      beat = std::max(beat, step(before).beat + (sends(id) && !sends(before) ? 1 : 0));
    }
    if (here.lanes[one.lane].role == LaneRole::kReceive) {
      beat = std::max(beat, step(one.other).beat);
    }
    if (!sends(id)) {
      return beat;
    }
    std::uint32_t& sent = sent_[first_lane_[one.npu] + one.lane];
    const bool same = !first && beat == step(id - 1).beat;
    if (same && joins(id)) {
      return beat;
    }
    if (same && sent < width_) {
      ++sent;
      return beat;
    }
    sent = 1;
    return beat + (same ? 1 : 0);
  }

  std::uint32_t latest(std::uint32_t id) {
    if (sends(id)) {
      return step(id).beat;
    }
    std::uint32_t due = beats_.count - 1;
    for (const std::uint32_t next : after(id)) {
      due = std::min(due, sends(next) ? step(next).beat - 1 : step(next).due);
    }
    return due;
  }

  const Program& program_;
  std::uint32_t width_;
  Beats beats_;
  /// By NPU its first lane, and by lane, of all NPUs, its first step.
  std::vector<std::uint32_t> first_lane_;
  std::vector<std::uint32_t> first_step_;
  std::vector<std::uint32_t> first_edge_;
  std::vector<std::uint32_t> after_;
  /// By step: how many it still waits for.
  std::vector<std::uint32_t> waits_;
  /// By lane: messages in its last beat.
  std::vector<std::uint32_t> sent_;
};

}  // namespace

Beats beats_of(const Program& program, std::uint32_t width) {
  return Timing(program, width).run();
}

}  // namespace tacos::exporting
