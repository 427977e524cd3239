// SPDX-License-Identifier: MIT
// What hangs together by fast links: the components of the network as slower and slower links join.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tacos/topology.h"

namespace tacos {

/// What a component is in its cut.
enum class Side { kReceives, kSends };

/// Disjoint sets with path halving; the smallest member names a set.
class Components {
 public:
  explicit Components(std::uint32_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  [[nodiscard]] std::uint32_t find(std::uint32_t node) {
    while (parent_[node] != node) {
      node = parent_[node] = parent_[parent_[node]];
    }
    return node;
  }
  /// Whether they were apart.
  bool join(std::uint32_t a, std::uint32_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

/// Calls visit(components) with every node alone, and then after each level of link speed that
/// joined something, but for the slowest. Levels are a factor 1.3 apart.
template <class Visit>
void for_speed_levels(const Topology& network, Visit visit) {
  Components components(network.num_nodes());
  visit(components);
  const auto speed = [&](std::uint32_t link) {
    return network.link(LinkId(link)).bandwidth.bytes_per_second;
  };
  std::vector<std::uint32_t> by_speed(network.num_links());
  std::iota(by_speed.begin(), by_speed.end(), 0U);
  std::erase_if(by_speed, [&](std::uint32_t link) { return network.failed(LinkId(link)); });
  const auto faster = [&](std::uint32_t a, std::uint32_t b) { return speed(a) > speed(b); };
  if (!std::is_sorted(by_speed.begin(), by_speed.end(), faster)) {
    std::stable_sort(by_speed.begin(), by_speed.end(), faster);
  }
  for (std::size_t at = 0; at < by_speed.size();) {
    const std::int64_t level = speed(by_speed[at]);
    bool joined = false;
    for (; at < by_speed.size() && speed(by_speed[at]) > level / 13 * 10; ++at) {
      const Link& link = network.link(LinkId(by_speed[at]));
      joined |= components.join(link.src.value(), link.dst.value());
    }
    if (joined && at < by_speed.size()) {
      visit(components);
    }
  }
}

}  // namespace tacos
