// SPDX-License-Identifier: MIT
// Topology files. What is read comes back when it is written, link by link or as a product.
#include "tacos/topology.h"

#include "fuzz/round_trip.h"
#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tacos::fuzz::text_of(data, size);
  if (tacos::fuzz::says_large_network(text)) {
    return -1;
  }
  const tacos::Result<tacos::Topology> topology = tacos::parse_topology_json(text, "fuzz.json");
  if (topology) {
    tacos::fuzz::require_round_trip(*topology);
  } else {
    tacos::fuzz::require_input_error(topology.error());
  }
  return 0;
}
