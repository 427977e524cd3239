// SPDX-License-Identifier: MIT
// Spec strings such as torus:4x4,bw=50GBps.
#include <algorithm>
#include <charconv>

#include "tacos/topology.h"

#include "fuzz/round_trip.h"
#include "fuzz/target.h"

namespace {

/// Whether the dimensions multiply to something large: such a network may be made, but then time
/// goes into filling memory.
bool says_large_network(std::string_view spec) {
  constexpr std::uint64_t kMost = 40;
  constexpr std::uint64_t kMostCube = 6;
  const bool cube = spec.find("hypercube") != std::string_view::npos;
  spec = spec.substr(0, spec.find(','));
  std::uint64_t product = 1;
  // Numbers count from a colon to the next block.
  bool counts = false;
  for (std::size_t at = spec.find_first_of(":*0123456789"); at < spec.size();
       at = spec.find_first_of(":*0123456789", at)) {
    if (spec[at] == ':' || spec[at] == '*') {
      counts = spec[at++] == ':';
      continue;
    }
    std::uint64_t number = 0;
    const auto [end, failure] =
        std::from_chars(spec.data() + at, spec.data() + spec.size(), number);
    at = static_cast<std::size_t>(end - spec.data());
    if (counts && (failure != std::errc() || number > (cube ? kMostCube : kMost) ||
                   (product *= std::max<std::uint64_t>(1, number)) > kMost)) {
      return true;
    }
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view spec = tacos::fuzz::text_of(data, size);
  if (says_large_network(spec)) {
    return -1;
  }
  const tacos::Result<tacos::Topology> topology = tacos::parse_topology_spec(spec);
  if (topology) {
    tacos::fuzz::require(topology->num_npus() > 0, "a network has NPUs");
    tacos::fuzz::require_round_trip(*topology);
  } else {
    tacos::fuzz::require_input_error(topology.error());
  }
  return 0;
}
