// SPDX-License-Identifier: MIT
// A small independent check of All-Reduce schedules over direct links: replays the values with
// random 64-bit contributions and checks link exclusivity, causality and the sums at the end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "base/numbers/rng.h"

namespace tacos::testing {

/// One chunk moved by one transfer.
struct Move {
  std::int64_t start = 0;
  std::int64_t arrival = 0;
  std::uint32_t link = 0;
  std::uint32_t chunk = 0;
  Op op = Op::kCopy;
  std::uint64_t value = 0;
};

/// The first thing that is wrong, or nothing.
inline std::optional<std::string> check_allreduce(const Topology& topology,
                                                  const Collective& collective,
                                                  const Schedule& schedule,
                                                  LinkModel model) {
  const auto cursor = schedule.cursor();
  TransferBatch batch;
  std::vector<Move> moves;
  std::vector<std::int64_t> free_at(topology.num_links(), 0);
  std::int64_t before = 0;
  std::uint32_t link_before = 0;
  std::int64_t end = 0;
  for (;;) {
    if (!cursor->next(batch)) {
      return "the schedule cannot be read";
    }
    if (batch.empty()) {
      break;
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Transfer transfer = batch[i];
      const std::uint32_t link = transfer.links[0].value();
      const std::int64_t start = transfer.start.ps;
      if (transfer.links.size() != 1 || start < before || (start == before && link < link_before)) {
        return "not one link, or not in order of start and link";
      }
      before = start;
      link_before = link;
      std::int64_t bytes = 0;
      for (const ChunkId chunk : transfer.chunks) {
        bytes += collective.chunks().bytes(chunk).count;
      }
      const LinkCost cost = link_cost(topology.link(LinkId(link)), {bytes}, model);
      if (start < free_at[link]) {
        return "link " + std::to_string(link) + " is busy at " + std::to_string(start);
      }
      free_at[link] = start + cost.busy.ps;
      end = std::max(end, start + cost.arrival.ps);
      for (const ChunkId chunk : transfer.chunks) {
        moves.push_back({start, start + cost.arrival.ps, link, chunk.value(), transfer.op, 0});
      }
    }
  }
  if (end != schedule.collective_time().ps) {
    return "ends at " + std::to_string(end) + ", not when it says";
  }
  // Chunk by chunk: all arrivals up to a start come before it.
  std::stable_sort(
      moves.begin(), moves.end(), [](const Move& a, const Move& b) { return a.chunk < b.chunk; });
  const std::uint32_t nodes = topology.num_npus();
  std::vector<std::uint64_t> value(nodes);
  std::vector<std::int64_t> sending_until(nodes);
  std::size_t at = 0;
  for (std::uint32_t chunk = 0; chunk < collective.num_chunks(); ++chunk) {
    std::uint64_t expected = 0;
    for (std::uint32_t v = 0; v < nodes; ++v) {
      value[v] = mix64(v, chunk);
      expected += value[v];
      sending_until[v] = 0;
    }
    std::size_t last = at;
    while (last < moves.size() && moves[last].chunk == chunk) {
      ++last;
    }
    std::vector<std::size_t> arriving;
    for (std::size_t i = at; i < last; ++i) {
      arriving.push_back(i);
    }
    std::stable_sort(arriving.begin(), arriving.end(), [&](std::size_t a, std::size_t b) {
      return moves[a].arrival < moves[b].arrival;
    });
    std::size_t arrived = 0;
    const auto apply_until = [&](std::int64_t now) -> bool {
      for (; arrived < arriving.size() && moves[arriving[arrived]].arrival <= now; ++arrived) {
        const Move& move = moves[arriving[arrived]];
        const std::uint32_t to = topology.link(LinkId(move.link)).dst.value();
        if (sending_until[to] > move.arrival) {
          return false;
        }
        value[to] = move.op == Op::kCopy ? move.value : value[to] + move.value;
      }
      return true;
    };
    for (; at < last; ++at) {
      if (!apply_until(moves[at].start)) {
        return "chunk " + std::to_string(chunk) + " changes while it is being sent";
      }
      const std::uint32_t from = topology.link(LinkId(moves[at].link)).src.value();
      moves[at].value = value[from];
      sending_until[from] = std::max(sending_until[from], moves[at].arrival);
    }
    if (!apply_until(end)) {
      return "chunk " + std::to_string(chunk) + " changes while it is being sent";
    }
    for (std::uint32_t v = 0; v < nodes; ++v) {
      if (value[v] != expected) {
        return "NPU " + std::to_string(v) + " ends with a wrong sum of chunk " +
               std::to_string(chunk);
      }
    }
  }
  return std::nullopt;
}

}  // namespace tacos::testing
