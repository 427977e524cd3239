// SPDX-License-Identifier: MIT
#include "execute/placement.h"

#include <algorithm>

#include <fmt/format.h>

namespace tacos::execution {
namespace {

constexpr std::uint32_t kNobody = ~std::uint32_t{0};

Error wrong_number(const Program& program, std::size_t acting, std::uint32_t processes) {
  const std::size_t npus = program.npus.size();
  return input_error(
      fmt::format("is for {} ranks{}, not for {}",
                  acting,
                  acting == npus ? "" : fmt::format(" (or {}, of which some idle)", npus),
                  processes));
}

}  // namespace

std::vector<NodeId> acting_npus(const Program& program) {
  const auto participants = program.collective.participants();
  std::vector<NodeId> acting;
  for (std::uint32_t npu = 0; npu < program.npus.size(); ++npu) {
    if (!program.npus[npu].lanes.empty() ||
        std::binary_search(participants.begin(), participants.end(), NodeId(npu))) {
      acting.emplace_back(npu);
    }
  }
  return acting;
}

Result<Placement> place(const Program& program,
                        std::uint32_t processes,
                        std::span<const NodeId> order) {
  const std::vector<NodeId> acting = acting_npus(program);
  const auto npus = static_cast<std::uint32_t>(program.npus.size());
  if (processes != npus && processes != acting.size()) {
    return wrong_number(program, acting.size(), processes);
  }
  Placement placement;
  placement.npus.resize(processes);
  placement.processes.assign(npus, kNobody);
  for (std::uint32_t process = 0; process < processes; ++process) {
    const NodeId npu = !order.empty()      ? order[process]
                       : processes == npus ? NodeId(process)
                                           : acting[process];
    if (npu.value() >= npus || placement.processes[npu.index()] != kNobody) {
      return input_error(fmt::format(
          "NPU {} {}", npu.value(), npu.value() >= npus ? "does not exist" : "is given twice"));
    }
    placement.npus[process] = npu;
    placement.processes[npu.index()] = process;
  }
  for (const NodeId npu : acting) {
    if (placement.processes[npu.index()] == kNobody) {
      return input_error(fmt::format("no rank is NPU {}, which has something to do", npu.value()));
    }
  }
  const auto participants = program.collective.participants();
  std::vector<std::uint32_t> ranked;
  ranked.reserve(participants.size());
  for (const NodeId npu : participants) {
    ranked.push_back(placement.processes[npu.index()]);
  }
  for (const std::uint32_t process : ranked) {
    placement.positions.push_back(static_cast<std::uint32_t>(std::count_if(
        ranked.begin(), ranked.end(), [&](std::uint32_t other) { return other < process; })));
  }
  const auto root = std::find(participants.begin(), participants.end(), program.collective.root());
  placement.root = placement.positions[static_cast<std::size_t>(root - participants.begin())];
  return placement;
}

}  // namespace tacos::execution
