// SPDX-License-Identifier: MIT
// O(steps + dependencies) for an order, times the logarithm of the longest lane for least_slots().
#include "verify/program_graph.h"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

namespace tacos {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

bool fits(StepKind kind, LaneRole role) {
  switch (kind) {
    case StepKind::kSend:
    case StepKind::kGrant:
      return role == LaneRole::kSend;
    case StepKind::kAwait:
    case StepKind::kReceive:
    case StepKind::kReceiveReduce:
      return role == LaneRole::kReceive;
    case StepKind::kCopy:
    case StepKind::kReduce:
      break;
  }
  return role == LaneRole::kLocal;
}

bool exists(const BufferSlots& slots, const Slot& slot) {
  switch (slot.buffer) {
    case Buffer::kInput:
      return slot.index < slots.input;
    case Buffer::kOutput:
      return slot.index < slots.output;
    case Buffer::kScratch:
      break;
  }
  return slot.index < slots.scratch;
}

}  // namespace

ProgramGraph::ProgramGraph(const Program& program, std::optional<std::string>& wrong)
    : program_(program) {
  number_lanes();
  check_steps(wrong);
  if (!wrong) {
    match(wrong);
  }
}

void ProgramGraph::number_lanes() {
  first_.push_back(0);
  for (std::uint32_t npu = 0; npu < program_.npus.size(); ++npu) {
    first_lane_.push_back(static_cast<std::uint32_t>(npu_of_lane_.size()));
    for (const Lane& lane : program_.npus[npu].lanes) {
      const auto steps = static_cast<std::uint32_t>(lane.steps.size());
      npu_of_lane_.push_back(npu);
      first_.push_back(first_.back() + steps);
      longest_ = std::max(longest_, steps);
    }
  }
}

ProgramGraph::Place ProgramGraph::place(std::uint32_t step) const {
  const auto next = std::upper_bound(first_.begin(), first_.end(), step);
  const auto lane = static_cast<std::uint32_t>(next - first_.begin()) - 1;
  const std::uint32_t npu = npu_of_lane_[lane];
  return {.npu = npu, .lane = lane - first_lane_[npu], .step = step - first_[lane]};
}

void ProgramGraph::check_steps(std::optional<std::string>& wrong) const {
  for (std::uint32_t npu = 0; npu < program_.npus.size(); ++npu) {
    const NpuProgram& here = program_.npus[npu];
    for (std::uint32_t lane = 0; lane < here.lanes.size(); ++lane) {
      for (std::uint32_t s = 0; s < here.lanes[lane].steps.size(); ++s) {
        const Step& step = here.lanes[lane].steps[s];
        const auto waits = here.dependencies_of(step);
        const bool known = std::all_of(waits.begin(), waits.end(), [&](const Dependency& one) {
          return one.lane < here.lanes.size() && one.step < here.lanes[one.lane].steps.size();
        });
        if (!known || !fits(step.kind, here.lanes[lane].role) ||
            (reads(step.kind) && !exists(here.slots, step.from)) ||
            (writes(step.kind) && !exists(here.slots, step.to))) {
          wrong = fmt::format("NPU {}, lane {}, step {}: names {} that there is not",
                              npu,
                              lane,
                              s,
                              known ? "a slot or a kind" : "a step");
          return;
        }
      }
    }
  }
}

void ProgramGraph::match(std::optional<std::string>& wrong) {
  // By ends and channel, the sending lane and the receiving lane come together.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, LaneRole, std::uint32_t>;
  std::vector<Key> keys;
  for (std::uint32_t lane = 0; lane < npu_of_lane_.size(); ++lane) {
    const std::uint32_t npu = npu_of_lane_[lane];
    const Lane& one = program_.npus[npu].lanes[lane - first_lane_[npu]];
    if (one.role != LaneRole::kLocal) {
      const bool sends = one.role == LaneRole::kSend;
      keys.emplace_back(sends ? npu : one.peer.value(),
                        sends ? one.peer.value() : npu,
                        one.channel,
                        one.role,
                        lane);
    }
  }
  std::sort(keys.begin(), keys.end());
  partner_.assign(num_steps(), kNone);
  for (std::size_t i = 0; i < keys.size(); i += 2) {
    const auto& [src, dst, channel, role, lane] = keys[i];
    const bool pair =
        i + 1 < keys.size() && role == LaneRole::kSend &&
        keys[i + 1] == Key{src, dst, channel, LaneRole::kReceive, std::get<4>(keys[i + 1])};
    const std::uint32_t other = pair ? std::get<4>(keys[i + 1]) : lane;
    const std::uint32_t length = first_[lane + 1] - first_[lane];
    if (!pair || first_[other + 1] - first_[other] != length || !credits_match(lane, other)) {
      wrong = fmt::format(
          "from NPU {} to NPU {} on channel {} sends and receives do not match", src, dst, channel);
      return;
    }
    for (std::uint32_t s = 0; s < length; ++s) {
      partner_[first_[lane] + s] = first_[other] + s;
      partner_[first_[other] + s] = first_[lane] + s;
    }
  }
}

bool ProgramGraph::credits_match(std::uint32_t sender, std::uint32_t receiver) const {
  const auto steps = [&](std::uint32_t lane) -> const std::vector<Step>& {
    const std::uint32_t npu = npu_of_lane_[lane];
    return program_.npus[npu].lanes[lane - first_lane_[npu]].steps;
  };
  return std::equal(steps(sender).begin(),
                    steps(sender).end(),
                    steps(receiver).begin(),
                    steps(receiver).end(),
                    [](const Step& a, const Step& b) {
                      return (a.kind == StepKind::kGrant) == (b.kind == StepKind::kAwait);
                    });
}

/// Calls visit(step, who waits for it).
template <class Visit>
void ProgramGraph::each_wait(std::uint32_t fifo_slots, const Visit& visit) const {
  for (std::uint32_t lane = 0; lane < npu_of_lane_.size(); ++lane) {
    const std::uint32_t npu = npu_of_lane_[lane];
    const NpuProgram& here = program_.npus[npu];
    const Lane& one = here.lanes[lane - first_lane_[npu]];
    for (std::uint32_t s = 0; s < one.steps.size(); ++s) {
      const std::uint32_t self = first_[lane] + s;
      if (s > 0) {
        visit(self - 1, self);
      }
      for (const Dependency& wait : here.dependencies_of(one.steps[s])) {
        visit(number(npu, wait.lane, wait.step), self);
      }
      if (one.role == LaneRole::kReceive) {
        visit(partner_[self], self);
      } else if (one.role == LaneRole::kSend && fifo_slots != 0 && s >= fifo_slots) {
        visit(partner_[self - fifo_slots], self);
      }
    }
  }
}

std::vector<std::uint32_t> ProgramGraph::order(std::uint32_t fifo_slots) const {
  // Steps wait for so many others; who waits for whom is found again from the other side.
  std::vector<std::uint32_t> waits(num_steps(), 0);
  std::vector<std::uint32_t> first_waiter(num_steps() + 1, 0);
  each_wait(fifo_slots, [&](std::uint32_t before, std::uint32_t self) {
    ++waits[self];
    ++first_waiter[before + 1];
  });
  for (std::size_t i = 1; i < first_waiter.size(); ++i) {
    first_waiter[i] += first_waiter[i - 1];
  }
  std::vector<std::uint32_t> waiters(first_waiter.back());
  std::vector<std::uint32_t> next(first_waiter.begin(), first_waiter.end() - 1);
  each_wait(fifo_slots,
            [&](std::uint32_t before, std::uint32_t self) { waiters[next[before]++] = self; });
  std::vector<std::uint32_t> done;
  done.reserve(num_steps());
  for (std::uint32_t step = 0; step < num_steps(); ++step) {
    if (waits[step] == 0) {
      done.push_back(step);
    }
  }
  for (std::size_t i = 0; i < done.size(); ++i) {
    for (std::uint32_t at = first_waiter[done[i]]; at < first_waiter[done[i] + 1]; ++at) {
      if (--waits[waiters[at]] == 0) {
        done.push_back(waiters[at]);
      }
    }
  }
  return done;
}

std::uint32_t ProgramGraph::least_slots() const {
  std::uint32_t enough = 1;
  while (enough < longest_ && order(enough).size() < num_steps()) {
    enough *= 2;
  }
  std::uint32_t few = enough / 2;
  while (enough - few > 1) {
    const std::uint32_t middle = (enough + few) / 2;
    (order(middle).size() == num_steps() ? enough : few) = middle;
  }
  return enough;
}

}  // namespace tacos
