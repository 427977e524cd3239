// SPDX-License-Identifier: MIT
// When links are free again after what they carried has arrived.
#pragma once

#include <algorithm>

#include "tacos/topology.h"

namespace tacos {

/// For how long after the arrival of a transfer some link of its route may stay busy: for nothing
/// unless, under `pipelined`, gaps are longer than latencies.
[[nodiscard]] inline Ticks settling_time(const Topology& topology, LinkModel model) {
  Ticks longest;
  for (const Link& link : topology.links()) {
    longest = std::max(longest, overhead(link, model) - link.latency);
  }
  return longest;
}

}  // namespace tacos
