// SPDX-License-Identifier: MIT
// Networks that are written and read again.
#pragma once

#include "tacos/topology.h"

#include "fuzz/target.h"

namespace tacos::fuzz {

inline void require_round_trip(const Topology& topology) {
  for (const Link& link : topology.links()) {
    require(link.src.value() < topology.num_nodes() && link.dst.value() < topology.num_nodes() &&
                link.src != link.dst && link.bandwidth.bytes_per_second > 0 && link.latency.ps >= 0,
            "links join nodes and take time");
  }
  const std::string listed = topology_to_json(topology);
  const Result<Topology> again = parse_topology_json(listed, "again.json");
  require(again && *again == topology, "a network comes back from its file");
  require(topology_to_json(*again) == listed, "and so does its name");
  // A name is not believed.
  const bool product = has_product_structure(topology);
  require(product || !is_translation_symmetric(topology), "only products are known symmetric");
  if (product) {
    const Result<Topology> made = parse_topology_json(product_to_json(topology), "product.json");
    require(made && *made == topology, "a product comes back from its dimensions");
  }
}

}  // namespace tacos::fuzz
