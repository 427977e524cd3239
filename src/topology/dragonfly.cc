// SPDX-License-Identifier: MIT
// Dragonfly: NPU a of group g has id a + A*g. Seen from group g, the other groups are g+1, g+2, ...
// (cyclically); the link to the j-th of them is at NPU j mod A, one per NPU when A = G-1.
#include <fmt/format.h>

#include "base/text/quantity.h"
#include "topology/generators.h"

namespace tacos {

Result<Topology> make_dragonfly(std::string name, const Dimension& local, const Dimension& global) {
  const std::uint32_t size = local.length;
  const std::uint32_t groups = global.length;
  const std::uint64_t npus = std::uint64_t{size} * groups;
  if (npus > kMaxNodes) {
    return input_error(fmt::format("has more NPUs than the {} supported", format_count(kMaxNodes)),
                       name);
  }
  const std::uint64_t links = npus * (size - 1) + std::uint64_t{groups} * (groups - 1);
  if (Status fits = check_network_size(npus, links); !fits) {
    return input_error(fits.error().message, std::move(name));
  }
  // The NPU of group `from` that has the link to group `to`.
  const auto gateway = [&](std::uint32_t from, std::uint32_t to) {
    return from * size + (to + groups - from - 1) % groups % size;
  };
  TopologyBuilder builder(std::move(name), static_cast<std::uint32_t>(npus));
  builder.reserve_links(links);
  for (std::uint32_t group = 0; group < groups; ++group) {
    for (std::uint32_t a = 0; a < size; ++a) {
      const std::uint32_t npu = group * size + a;
      for (std::uint32_t other = 1; other < size; ++other) {
        builder.add_link({.src = NodeId(npu),
                          .dst = NodeId(group * size + (a + other) % size),
                          .bandwidth = local.bandwidth,
                          .latency = local.latency,
                          .gap = local.gap});
      }
      for (std::uint32_t j = a; j + 1 < groups; j += size) {
        builder.add_link({.src = NodeId(npu),
                          .dst = NodeId(gateway((group + 1 + j) % groups, group)),
                          .bandwidth = global.bandwidth,
                          .latency = global.latency,
                          .gap = global.gap});
      }
    }
  }
  return std::move(builder).build();
}

}  // namespace tacos
