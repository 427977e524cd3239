// SPDX-License-Identifier: MIT
#include "synthesis/common/spread_task.h"

namespace tacos {

std::vector<NodeId> spread_owners(const Collective& collective) {
  const CollectiveTraits& kind = traits(collective.kind());
  if (!kind.spreads()) {
    return {};
  }
  return kind.rooted()
             ? std::vector{collective.root()}
             : std::vector(collective.participants().begin(), collective.participants().end());
}

SpreadTask spread_task(const Collective& collective, Direction direction, std::uint32_t num_npus) {
  SpreadTask task{.num_chunks = collective.num_chunks(),
                  .chunk_bytes = collective.chunks().max_bytes(),
                  .held = BitMatrix(num_npus, collective.num_chunks()),
                  .wanted = BitMatrix(num_npus, collective.num_chunks())};
  const std::vector<NodeId> owners = spread_owners(collective);
  const bool forwards = direction == Direction::kWithLinks;
  for (std::uint32_t c = 0; c < task.num_chunks; ++c) {
    const ChunkId chunk(c);
    for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
      const std::size_t npu = collective.participants()[p].index();
      const bool starts =
          forwards ? collective.starts_with(chunk, p) : collective.ends_with(chunk, p);
      const bool ends =
          forwards ? collective.ends_with(chunk, p) : collective.starts_with(chunk, p);
      if (ends) {
        task.wanted.set(npu, c);
      }
      // Between the phases of an All-Reduce a chunk is complete at its owner alone.
      const bool through_owner = traits(collective.kind()).has_two_phases();
      if (through_owner ? owners[c / (task.num_chunks / owners.size())].index() == npu : starts) {
        task.held.set(npu, c);
        task.wanted.set(npu, c);
      }
    }
  }
  std::uint64_t wanted = 0;
  for (std::uint32_t npu = 0; npu < num_npus; ++npu) {
    for (std::uint32_t c = 0; c < task.num_chunks; ++c) {
      wanted += task.wanted.test(npu, c) ? 1 : 0;
    }
  }
  task.everyone = wanted == std::uint64_t{num_npus} * task.num_chunks;
  return task;
}

}  // namespace tacos
