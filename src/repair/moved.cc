// SPDX-License-Identifier: MIT
#include "repair/moved.h"

#include <algorithm>
#include <vector>

#include "replay/retime.h"
#include "schedule/read_ahead.h"

namespace tacos::repairing {
namespace {

/// What the number of each participant becomes.
std::vector<std::uint32_t> participants_moved(const Collective& from,
                                              const Collective& to,
                                              const Permutation& nodes) {
  const auto there = to.participants();
  std::vector<std::uint32_t> numbers;
  numbers.reserve(from.num_participants());
  for (const NodeId npu : from.participants()) {
    const auto found = std::lower_bound(there.begin(), there.end(), NodeId(nodes[npu.index()]));
    numbers.push_back(static_cast<std::uint32_t>(found - there.begin()));
  }
  return numbers;
}

/// What each chunk becomes, by docs/schedule-format.md.
std::vector<ChunkId> chunks_moved(const Collective& from,
                                  const Collective& to,
                                  const Permutation& nodes) {
  const std::vector<std::uint32_t> numbers = participants_moved(from, to, nodes);
  const auto n = static_cast<std::uint32_t>(numbers.size());
  const ChunksPer per = from.form() == CollectiveForm::kGathered ? ChunksPer::kParticipant
                                                                 : traits(from.kind()).chunks_per;
  const auto each = static_cast<std::uint32_t>(from.chunk_argument());
  std::vector<ChunkId> chunks;
  chunks.reserve(from.num_chunks());
  for (std::uint32_t chunk = 0; chunk < from.num_chunks(); ++chunk) {
    const std::uint32_t owner = chunk / each;
    if (per == ChunksPer::kBuffer) {
      chunks.emplace_back(chunk);
    } else if (per == ChunksPer::kParticipant) {
      chunks.emplace_back(numbers[owner] * each + chunk % each);
    } else {
      chunks.emplace_back((numbers[owner / n] * n + numbers[owner % n]) * each + chunk % each);
    }
  }
  return chunks;
}

}  // namespace

Result<std::optional<Schedule>> moved(const Bundle& bundle,
                                      const Collective& collective,
                                      const Permutation& nodes,
                                      const Permutation& links) {
  const Collective& before = bundle.collective;
  const std::vector<ChunkId> to = chunks_moved(before, collective, nodes);
  for (std::uint32_t chunk = 0; chunk < to.size(); ++chunk) {
    if (before.chunks().bytes(ChunkId(chunk)) != collective.chunks().bytes(to[chunk])) {
      return std::optional<Schedule>();
    }
  }
  TransferBatch transfers;
  std::vector<Ticks> start;
  std::vector<Ticks> end;
  std::vector<LinkId> route;
  std::vector<ChunkId> chunks;
  const Status read = read_transfers(bundle.schedule, 1, [&](const Transfer& transfer) {
    route.clear();
    for (const LinkId link : transfer.links) {
      route.emplace_back(links[link.index()]);
    }
    chunks.clear();
    for (const ChunkId chunk : transfer.chunks) {
      chunks.push_back(to[chunk.index()]);
    }
    std::sort(chunks.begin(), chunks.end());
    start.push_back(transfer.start);
    end.push_back(transfer.start + route_time(bundle.topology,
                                              transfer.links,
                                              before.chunks().bytes(transfer.chunks)));
    transfers.append(
        {.start = transfer.start, .op = transfer.op, .links = route, .chunks = chunks});
  });
  if (!read) {
    return read.error();
  }
  return std::optional(replay::with_times(bundle.topology, transfers, start, end));
}

}  // namespace tacos::repairing
