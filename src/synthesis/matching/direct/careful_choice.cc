// SPDX-License-Identifier: MIT
#include "synthesis/matching/direct/careful_choice.h"

namespace tacos::matching {

CareRule::CareRule(const GatherNetwork& network,
                   const GatherTask& task,
                   const WindowLength& windows) {
  const std::vector<std::uint32_t> lacking = task.lacking(network.num_npus());
  for (std::uint32_t npu = 0; npu < network.num_npus(); ++npu) {
    const GridTime least = windows.finish(npu, lacking[npu], 0);
    const bool has_time = least <= windows.least() / 16 * 9;
    latest_.push_back(has_time ? kNever : least + network.max_delay());
  }
}

}  // namespace tacos::matching
