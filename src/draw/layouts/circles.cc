// SPDX-License-Identifier: MIT
// Networks without switches that are best seen as circles: a ring, a clique, and cliques of which
// every two are joined (dragonflies), as circles in a circle. They are known by their links, not by
// their names, so that files draw as specs do. O(links log links).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/csr.h"
#include "draw/layouts/layouts.h"

namespace tacos::draw {
namespace {

using Pair = std::pair<std::uint32_t, std::uint32_t>;

/// Up, so that the first node is where people begin to look.
constexpr double kTop = -0.25;
/// Between NPUs of a group, which have links to all others.
constexpr double kApart = 1.3;
/// Two groups are turned a little, so that no link between them runs over a node.
constexpr double kTilt = 0.045;
/// Around the nodes of a group.
constexpr double kRim = 0.62;

/// Which nodes are joined, in either direction, smaller first; increasing, each once.
std::vector<Pair> joined_pairs(const Topology& topology) {
  std::vector<Pair> pairs;
  pairs.reserve(topology.num_links());
  for (const Link& link : topology.all_links()) {
    pairs.emplace_back(std::minmax(link.src.value(), link.dst.value()));
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

/// The nodes of a ring in their order; empty when it is none.
std::vector<std::uint32_t> ring_order(std::uint32_t nodes, const std::vector<Pair>& pairs) {
  if (nodes < 3 || pairs.size() != nodes) {
    return {};
  }
  const Csr<std::uint32_t> neighbours(nodes, [&](const auto& add) {
    for (const auto& [a, b] : pairs) {
      add(a, b);
      add(b, a);
    }
  });
  std::vector<std::uint32_t> order;
  order.reserve(nodes);
  std::uint32_t before = 0;
  std::uint32_t node = 0;
  do {
    if (neighbours[node].size() != 2) {
      return {};
    }
    order.push_back(node);
    const std::uint32_t next = order.size() > 1 && neighbours[node][0] == before
                                   ? neighbours[node][1]
                                   : neighbours[node][0];
    before = node;
    node = next;
  } while (node != 0 && order.size() < nodes);
  return node == 0 && order.size() == nodes ? order : std::vector<std::uint32_t>();
}

Layout on_one_circle(const Topology& topology, const std::vector<std::uint32_t>& order) {
  Layout layout = blank_layout(topology, "circle");
  const auto count = static_cast<std::uint32_t>(order.size());
  const double radius = circle_radius(count, 1);
  for (std::uint32_t i = 0; i < count; ++i) {
    layout.nodes[order[i]] = on_circle({}, radius, kTop + static_cast<double>(i) / count);
  }
  return layout;
}

/// How many NPUs each of the cliques has that the NPUs, in the order of their ids, make up, if
/// every two cliques are joined; 0 when they do not.
std::uint32_t clique_size(std::uint32_t npus, const std::vector<Pair>& pairs) {
  for (std::uint32_t size = npus / 2; size > 1; --size) {
    const std::uint32_t groups = npus / size;
    const std::uint64_t inside = std::uint64_t{groups} * size * (size - 1) / 2;
    const std::uint64_t between = std::uint64_t{groups} * (groups - 1) / 2;
    if (npus % size != 0 || inside + between > pairs.size() || (groups == 2 && size == 2)) {
      continue;
    }
    std::uint64_t counted = 0;
    std::vector<Pair> joined;
    for (const auto& [a, b] : pairs) {
      if (a / size == b / size) {
        ++counted;
      } else {
        joined.emplace_back(a / size, b / size);
      }
    }
    std::sort(joined.begin(), joined.end());
    joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
    if (counted == inside && joined.size() == between) {
      return size;
    }
  }
  return 0;
}

Layout groups_on_circle(const Topology& topology, std::uint32_t size) {
  Layout layout = blank_layout(topology, "groups");
  const std::uint32_t groups = topology.num_npus() / size;
  const double inner = circle_radius(size, kApart);
  const double outer = circle_radius(groups, 2 * (inner + kRim) + 1);
  for (std::uint32_t group = 0; group < groups; ++group) {
    // Two are side by side.
    const bool two = groups == 2;
    const double turns = (two ? 0.5 : kTop) + static_cast<double>(group) / groups;
    const Place middle = on_circle({}, outer, turns);
    const double rim = inner + kRim;
    layout.frames.push_back({.outline = Outline::kCircle,
                             .low = middle - Place{rim, rim},
                             .high = middle + Place{rim, rim},
                             .skew = 0,
                             .label = fmt::format("group {}", group)});
    for (std::uint32_t i = 0; i < size; ++i) {
      // The first looks to the group after, the last to the group before, as the links of a
      // dragonfly do. Of two groups one is the mirror image of the other.
      const std::uint32_t npu = group * size + i;
      const double turn = (i + 0.5) / size;
      layout.nodes[npu] =
          on_circle(middle,
                    inner,
                    two ? turns + 0.5 + (group == 0 ? turn + kTilt : -turn - kTilt) : turns + turn);
      layout.frame_of[npu] = group;
    }
  }
  return layout;
}

}  // namespace

Layout all_on_circle(const Topology& topology) {
  std::vector<std::uint32_t> order(topology.num_nodes());
  for (std::uint32_t node = 0; node < topology.num_nodes(); ++node) {
    order[node] = node;
  }
  return on_one_circle(topology, order);
}

std::optional<Layout> circle_layout(const Topology& topology) {
  const std::uint32_t nodes = topology.num_nodes();
  if (topology.num_switches() > 0 || nodes < 3) {
    return std::nullopt;
  }
  const std::vector<Pair> pairs = joined_pairs(topology);
  if (pairs.size() == std::uint64_t{nodes} * (nodes - 1) / 2) {
    return all_on_circle(topology);
  }
  if (const std::vector<std::uint32_t> order = ring_order(nodes, pairs); !order.empty()) {
    return on_one_circle(topology, order);
  }
  if (const std::uint32_t size = clique_size(nodes, pairs); size > 0) {
    return groups_on_circle(topology, size);
  }
  return std::nullopt;
}

}  // namespace tacos::draw
