// SPDX-License-Identifier: MIT
#include "synthesis/matching/direct/gather_bound.h"

#include <algorithm>
#include <vector>

namespace tacos::matching {
namespace {

/// How many chunks can have come into the NPU by `time`.
std::uint64_t arrived_by(const GatherNetwork& network, std::uint32_t npu, GridTime time) {
  std::uint64_t count = 0;
  for (std::uint32_t at = network.first_in(npu); at < network.end_in(npu); ++at) {
    const InLink& link = network.in_links()[at];
    count += time < link.delay ? 0 : 1 + (time - link.delay) / link.period;
  }
  return count;
}

}  // namespace

GridTime gather_bound(const GatherNetwork& network,
                      std::uint32_t num_chunks,
                      std::span<const NodeId> owners) {
  std::vector<std::uint32_t> needs(network.num_npus(), num_chunks);
  for (const NodeId owner : owners) {
    needs[owner.index()] -= num_chunks / static_cast<std::uint32_t>(owners.size());
  }
  GridTime bound = 0;
  for (std::uint32_t npu = 0; npu < network.num_npus(); ++npu) {
    const std::uint32_t needed = needs[npu];
    if (arrived_by(network, npu, bound) >= needed) {
      continue;
    }
    GridTime low = bound;
    GridTime high = std::max(low + 1, network.end_of_time());
    while (high - low > 1) {
      const GridTime middle = low + (high - low) / 2;
      (arrived_by(network, npu, middle) >= needed ? high : low) = middle;
    }
    bound = high;
  }
  return bound;
}

}  // namespace tacos::matching
