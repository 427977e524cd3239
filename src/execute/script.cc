// SPDX-License-Identifier: MIT
// O(steps + dependencies), and what cuts.cc takes.
#include "execute/script.h"

#include <algorithm>
#include <utility>

#include "execute/cuts.h"

namespace tacos::execution {
namespace {

void add_lanes(Script& script, const NpuProgram& here, const std::vector<std::uint32_t>& cuts) {
  script.steps.reserve(cuts.size());
  script.lanes.reserve(here.lanes.size());
  std::uint32_t end = 0;
  for (const Lane& lane : here.lanes) {
    const auto number = static_cast<std::uint32_t>(script.lanes.size());
    script.lanes.push_back({.role = lane.role,
                            .peer = lane.peer,
                            .channel = lane.channel,
                            .end = lane.role == LaneRole::kLocal ? 0 : end++,
                            .first = static_cast<std::uint32_t>(script.steps.size()),
                            .count = static_cast<std::uint32_t>(lane.steps.size())});
    for (const Step& step : lane.steps) {
      script.steps.push_back({.kind = step.kind,
                              .from = step.from,
                              .to = step.to,
                              .cut = cuts[script.steps.size()],
                              .lane = number});
    }
  }
}

void add_waits(Script& script, const NpuProgram& here) {
  const auto for_each_wait = [&](const auto& visit) {
    std::uint32_t number = 0;
    for (const Lane& lane : here.lanes) {
      for (const Step& step : lane.steps) {
        for (const Dependency& wait : here.dependencies_of(step)) {
          visit(number, script.lanes[wait.lane].first + wait.step);
        }
        ++number;
      }
    }
  };
  script.waits.assign(script.steps.size(), 0);
  script.first_waiter.assign(script.steps.size() + 1, 0);
  for_each_wait([&](std::uint32_t step, std::uint32_t before) {
    ++script.waits[step];
    ++script.first_waiter[before + 1];
  });
  for (std::size_t i = 1; i < script.first_waiter.size(); ++i) {
    script.first_waiter[i] += script.first_waiter[i - 1];
  }
  script.waiters.resize(script.first_waiter.back());
  std::vector<std::uint32_t> at(script.first_waiter.begin(), script.first_waiter.end() - 1);
  for_each_wait(
      [&](std::uint32_t step, std::uint32_t before) { script.waiters[at[before]++] = step; });
}

void add_sums(Script& script, const Collective& collective, bool in_place, NodeId npu) {
  const auto participants = collective.participants();
  const auto self = std::find(participants.begin(), participants.end(), npu);
  if (self == participants.end()) {
    return;
  }
  const auto number = static_cast<std::uint32_t>(self - participants.begin());
  const bool gathered = collective.form() == CollectiveForm::kGathered;
  // Gathered, every participant's contribution to a chunk makes the same sum.
  const std::uint32_t chunks = gathered ? script.cuts : collective.num_chunks();
  for (std::uint32_t c = 0; c < chunks; ++c) {
    const ChunkId chunk(c);
    if (collective.ends_with(chunk, number) && (gathered || collective.reduces(chunk))) {
      script.sums.push_back(output_slot(collective, number, chunk, in_place));
    }
  }
}

/// Of a program or a loop, of which `here` is what the NPU does.
template <class Whole>
Result<Script> make_script(const Whole& whole,
                           const NpuProgram& here,
                           NodeId npu,
                           const Result<std::vector<std::uint32_t>>& cuts) {
  if (!cuts) {
    return cuts.error();
  }
  Script script;
  script.slots = here.slots;
  script.participants = whole.collective.num_participants();
  script.parts = traits(whole.collective.kind()).chunks_per != ChunksPer::kBuffer;
  script.cuts = static_cast<std::uint32_t>(whole.collective.chunk_argument());
  add_lanes(script, here, *cuts);
  add_waits(script, here);
  add_sums(script, whole.collective, whole.in_place, npu);
  return script;
}

}  // namespace

Result<Script> make_script(const Program& program, NodeId npu) {
  return make_script(program, program.npus[npu.index()], npu, cuts_of(program, npu));
}

Result<Script> make_script(const Loop& loop, NodeId npu) {
  return make_script(loop, unroll(loop, npu), npu, cuts_of(loop, npu));
}

std::vector<LaneEnd> ends_of(const Script& script, const ExecuteOptions& options) {
  std::vector<LaneEnd> ends;
  for (const ScriptLane& lane : script.lanes) {
    if (lane.role != LaneRole::kLocal) {
      const std::uint32_t peer =
          options.processes.empty() ? lane.peer.value() : options.processes[lane.peer.index()];
      ends.push_back({.role = lane.role,
                      .peer = peer,
                      .channel = lane.channel,
                      .depth = std::max(options.depth, 2U)});
    }
  }
  return ends;
}

}  // namespace tacos::execution
