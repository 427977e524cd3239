// SPDX-License-Identifier: MIT
#include "topology/hash.h"

#include "base/numbers/hash.h"

namespace tacos {

std::uint64_t network_hash(const Topology& topology) {
  StreamHash hash;
  hash.add(topology.num_npus());
  hash.add(topology.num_switches());
  hash.add(topology.npus_forward() ? 1 : 0);
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Link& link = topology.link(LinkId(id));
    for (const auto word : {static_cast<std::uint64_t>(link.src.value()),
                            static_cast<std::uint64_t>(link.dst.value()),
                            static_cast<std::uint64_t>(link.bandwidth.bytes_per_second),
                            static_cast<std::uint64_t>(link.latency.ps),
                            static_cast<std::uint64_t>(link.gap.ps),
                            std::uint64_t{topology.failed(LinkId(id)) ? 1U : 0U}}) {
      hash.add(word);
    }
  }
  return hash.value();
}

}  // namespace tacos
