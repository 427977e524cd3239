// SPDX-License-Identifier: MIT
#include "replay/scratch.h"

#include <algorithm>
#include <vector>

#include "base/memory/bit_matrix.h"
#include "schedule/read_ahead.h"

namespace tacos::replay {
namespace {

/// Whether every NPU has a place of its own for every chunk, in its input or its output.
bool has_places_for_all(const Topology& topology, const Collective& collective) {
  const CollectiveTraits& kind = traits(collective.kind());
  return collective.num_participants() == topology.num_npus() && kind.spreads();
}

/// Who takes part, by node.
std::vector<std::uint32_t> numbers_of(const Topology& topology, const Collective& collective) {
  std::vector<std::uint32_t> numbers(topology.num_nodes(), collective.num_participants());
  for (std::uint32_t p = 0; p < collective.num_participants(); ++p) {
    numbers[collective.participants()[p].index()] = p;
  }
  return numbers;
}

}  // namespace

Result<Bytes> scratch_of(const Topology& topology,
                         const Collective& collective,
                         const Schedule& schedule,
                         int threads) {
  if (collective.form() == CollectiveForm::kGathered) {
    return Bytes{collective.size().count * collective.num_participants()};
  }
  if (has_places_for_all(topology, collective)) {
    return Bytes{};
  }
  const std::vector<std::uint32_t> numbers = numbers_of(topology, collective);
  BitMatrix kept(topology.num_npus(), collective.num_chunks());
  std::vector<Bytes> bytes(topology.num_npus());
  const auto keep = [&](NodeId npu, ChunkId chunk) {
    const std::uint32_t p = numbers[npu.index()];
    const bool own = p < collective.num_participants() &&
                     (collective.starts_with(chunk, p) || collective.ends_with(chunk, p));
    if (!own && !kept.test(npu.index(), chunk.index())) {
      kept.set(npu.index(), chunk.index());
      bytes[npu.index()].count += collective.chunks().bytes(chunk).count;
    }
  };
  const Status read = read_transfers(schedule, threads, [&](const Transfer& transfer) {
    for (const ChunkId chunk : transfer.chunks) {
      keep(topology.link(transfer.links.back()).dst, chunk);
    }
  });
  if (!read) {
    return read.error();
  }
  return *std::max_element(
      bytes.begin(), bytes.end(), [](Bytes a, Bytes b) { return a.count < b.count; });
}

}  // namespace tacos::replay
