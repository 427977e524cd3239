// SPDX-License-Identifier: MIT
#include "synthesis/symmetric/moves.h"

#include <algorithm>

namespace tacos {

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

}  // namespace tacos
