// SPDX-License-Identifier: MIT
#include "export/runtimes/fitting.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

namespace tacos::exporting {

Error does_not_fit(const Collective& collective, std::string_view runtime, const Excess& excess) {
  return input_error(fmt::format("{} takes {} {} of a GPU at most, and this schedule needs {}; {}",
                                 runtime,
                                 excess.limit,
                                 excess.what,
                                 excess.value,
                                 collective.chunk_argument() > 1 ? "synthesize it with fewer chunks"
                                                                 : "a smaller group has fewer"));
}

Status check_ranks(const Program& program, std::string_view runtime) {
  std::vector<bool> takes_part(program.npus.size(), false);
  for (const NodeId npu : program.collective.participants()) {
    takes_part[npu.index()] = true;
  }
  for (std::size_t npu = 0; npu < program.npus.size(); ++npu) {
    if (!takes_part[npu] && !program.npus[npu].lanes.empty()) {
      return input_error(
          fmt::format("NPU {} passes data on and takes no part, and {} has ranks "
                      "for participants only; use synth --no-relay",
                      npu,
                      runtime));
    }
  }
  return ok();
}

std::uint32_t whole_slots(const Collective& collective) {
  std::uint32_t most = 0;
  for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
    const BufferSlots slots = buffer_slots(collective, p, false);
    most = std::max({most, slots.input, slots.output});
  }
  return most;
}

}  // namespace tacos::exporting
