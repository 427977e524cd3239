// SPDX-License-Identifier: MIT
#include "synthesis/common/attempts.h"

#include <algorithm>

namespace tacos {

bool sharing_pays(const Topology& topology, LinkModel model) {
  const auto links = topology.links();
  return model == LinkModel::kHold || std::any_of(links.begin(), links.end(), [](const Link& link) {
           return link.gap > Ticks{};
         });
}

bool is_short(const Topology& topology, LinkModel model, Bytes bytes, std::int64_t times) {
  const auto links = topology.links();
  return sharing_pays(topology, model) &&
         std::any_of(links.begin(), links.end(), [&](const Link& link) {
           return serialization_time(bytes, link.bandwidth).ps / times <= overhead(link, model).ps;
         });
}

std::vector<std::int64_t> more_chunks(Bytes part, std::uint64_t hops, std::int64_t most) {
  // They are tried while they make about this many hops in all.
  constexpr std::uint64_t kSearchHops = std::uint64_t{1} << 18U;
  std::vector<std::int64_t> counts;
  std::uint64_t made = hops;
  for (std::int64_t count = 2; count <= most; count *= 2) {
    made += hops * static_cast<std::uint64_t>(count);
    if (made > kSearchHops || part.count < count) {
      break;
    }
    counts.push_back(count);
  }
  return counts;
}

}  // namespace tacos
