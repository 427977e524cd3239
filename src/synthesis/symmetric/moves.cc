// SPDX-License-Identifier: MIT
#include "synthesis/symmetric/moves.h"

#include <algorithm>

namespace tacos::symmetric {

bool reach_everybody(const Moves& moves) {
  std::vector<bool> known(moves.npus, false);
  std::vector<std::uint32_t> reached{0};
  known[0] = true;
  for (std::size_t next = 0; next < reached.size(); ++next) {
    for (const Way& way : moves.ways) {
      for (const std::uint32_t to : way.reach(reached[next])) {
        if (!known[to]) {
          known[to] = true;
          reached.push_back(to);
        }
      }
    }
  }
  return reached.size() == moves.npus;
}

std::vector<Server> servers(std::span<const Way> ways, Bytes chunk, LinkModel model) {
  std::vector<Server> servers;
  servers.reserve(ways.size());
  for (const Way& way : ways) {
    const LinkCost up = link_cost(way.link, chunk, model);
    if (!way.is_port()) {
      servers.push_back({.period = up.busy, .duration = up.arrival});
      continue;
    }
    const LinkCost down = link_cost(way.down, chunk, model);
    const Ticks slower = std::max(serialization_time(chunk, way.link.bandwidth),
                                  serialization_time(chunk, way.down.bandwidth));
    servers.push_back(
        {.period = std::max(up.busy, down.busy),
         .duration = std::min(kMaxTime, way.link.latency + way.down.latency + slower)});
  }
  return servers;
}

}  // namespace tacos::symmetric
