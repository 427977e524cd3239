// SPDX-License-Identifier: MIT
#include "replay/relist.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "replay/hop_scheduler.h"
#include "replay/route_table.h"

namespace tacos::replay {

bool has_unequal_routes(const Topology& topology, const TransferBatch& transfers) {
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const auto links = transfers[i].links;
    const Bandwidth first = topology.link(links.front()).bandwidth;
    if (std::any_of(links.begin(), links.end(), [&](LinkId link) {
          return topology.link(link).bandwidth != first;
        })) {
      return true;
    }
  }
  return false;
}

std::optional<TransferBatch> relisted(const Topology& topology,
                                      const Collective& collective,
                                      LinkModel model,
                                      const TransferBatch& planned) {
  constexpr std::uint32_t kNoHop = ~std::uint32_t{0};
  const std::size_t num_chunks = collective.num_chunks();
  RouteTable routes(topology);
  Itineraries messages;
  messages.first_wait.push_back(0);
  std::vector<std::int64_t> ranks;
  std::vector<std::pair<ChunkId, Op>> carried;
  // What came to (NPU, chunk) before: the last message, and of each message the one before it.
  std::vector<std::uint32_t> last_to(topology.num_npus() * num_chunks, kNoHop);
  std::vector<std::uint32_t> before;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    const Transfer transfer = planned[i];
    const std::size_t src = topology.link(transfer.links.front()).src.index() * num_chunks;
    const std::size_t dst = topology.link(transfer.links.back()).dst.index() * num_chunks;
    for (const ChunkId chunk : transfer.chunks) {
      for (std::uint32_t hop = last_to[src + chunk.index()]; hop != kNoHop; hop = before[hop]) {
        messages.waits.push_back(hop);
      }
      messages.first_wait.push_back(static_cast<std::uint32_t>(messages.waits.size()));
      append_itinerary(topology, transfer.links, routes, messages);
      const auto hop = static_cast<std::uint32_t>(messages.hops.size() - 1);
      before.push_back(std::exchange(last_to[dst + chunk.index()], hop));
      ranks.push_back((kMaxTime - transfer.start).ps);
      carried.emplace_back(chunk, transfer.op);
    }
  }
  const std::optional<TimedHops> timed = schedule_hops(
      topology,
      routes,
      messages,
      {.link_model = model, .chunk_bytes = collective.chunks().max_bytes(), .ranks = ranks});
  if (!timed) {
    return std::nullopt;
  }
  TransferBatch made;
  for (const TimedHop& transfer : timed->transfers) {
    const auto& [chunk, op] = carried[timed->messages[transfer.first_message]];
    made.append({.start = transfer.start,
                 .op = op,
                 .links = routes.links(transfer.route),
                 .chunks = std::span(&chunk, 1)});
  }
  return made;
}

}  // namespace tacos::replay
