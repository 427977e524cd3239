// SPDX-License-Identifier: MIT
// Networks that do not say that they are symmetric, and a slow way to find out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tacos/topology.h"

#include "base/numbers/rng.h"

namespace tacos::testing {

using NodeMap = std::vector<std::uint32_t>;
using EdgeList = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

inline constexpr Link kPlainLink{
    .src = {}, .dst = {}, .bandwidth = {50'000'000'000}, .latency = {500'000}};

/// Links of one kind, in both directions.
[[nodiscard]] inline Topology graph(std::uint32_t npus, const EdgeList& edges) {
  TopologyBuilder builder("graph", npus);
  for (const auto& [a, b] : edges) {
    Link link = kPlainLink;
    link.src = NodeId(a);
    link.dst = NodeId(b);
    builder.add_both(link);
  }
  return std::move(builder).build().value();
}

/// The pairs of five things, joined when they have nothing in common. Looks the same from
/// everywhere, but no group of symmetries takes each NPU to each other in exactly one way.
[[nodiscard]] inline Topology petersen_graph() {
  EdgeList edges;
  for (std::uint32_t i = 0; i < 5; ++i) {
    edges.insert(edges.end(), {{i, (i + 1) % 5}, {i, i + 5}, {i + 5, (i + 2) % 5 + 5}});
  }
  return graph(10, edges);
}

/// A link from every NPU v to v + step; only that way round.
[[nodiscard]] inline Topology directed_circulant(std::uint32_t npus,
                                                 const std::vector<std::uint32_t>& steps) {
  TopologyBuilder builder("circulant", npus);
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    for (const std::uint32_t step : steps) {
      Link link = kPlainLink;
      link.src = NodeId(npu);
      link.dst = NodeId((npu + step) % npus);
      builder.add_link(link);
    }
  }
  return std::move(builder).build().value();
}

/// The same network with other names for its NPUs and switches, its links in another order, and
/// without its dimensions. Seed 0 changes nothing but the dimensions.
[[nodiscard]] inline Topology relabelled(const Topology& topology, std::uint64_t seed) {
  Rng rng(seed);
  NodeMap names(topology.num_nodes());
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    names[i] = i;
  }
  std::vector<Link> links(topology.links().begin(), topology.links().end());
  const auto shuffle = [&](auto first, std::uint32_t count) {
    for (std::uint32_t left = count; left > 1; --left) {
      std::swap(first[left - 1], first[rng.below(left)]);
    }
  };
  if (seed != 0) {
    shuffle(names.begin(), topology.num_npus());
    shuffle(names.begin() + topology.num_npus(), topology.num_switches());
    shuffle(links.begin(), topology.num_links());
  }
  TopologyBuilder builder("relabelled", topology.num_npus(), topology.num_switches());
  for (Link link : links) {
    link.src = NodeId(names[link.src.index()]);
    link.dst = NodeId(names[link.dst.index()]);
    builder.add_link(link);
  }
  return std::move(builder).build().value();
}

/// All permutations of the nodes that keep NPUs, switches and links, by trying every one. For up to
/// eight nodes.
[[nodiscard]] inline std::set<NodeMap> all_automorphisms(const Topology& topology) {
  using Ends = std::multiset<
      std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::int64_t, std::int64_t>>;
  const auto links_under = [&](const NodeMap& renamed) {
    Ends ends;
    for (const Link& link : topology.links()) {
      ends.emplace(renamed[link.src.index()],
                   renamed[link.dst.index()],
                   link.bandwidth.bytes_per_second,
                   link.latency.ps,
                   link.gap.ps);
    }
    return ends;
  };
  NodeMap names(topology.num_nodes());
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    names[i] = i;
  }
  const Ends original = links_under(names);
  std::set<NodeMap> found;
  do {
    const bool keeps_npus =
        std::all_of(names.begin(), names.begin() + topology.num_npus(), [&](std::uint32_t name) {
          return name < topology.num_npus();
        });
    if (keeps_npus && links_under(names) == original) {
      found.insert(names);
    }
  } while (std::next_permutation(names.begin(), names.end()));
  return found;
}

/// All compositions of some permutations.
[[nodiscard]] inline std::set<NodeMap> generated_group(const std::vector<NodeMap>& generators,
                                                       std::size_t size) {
  NodeMap identity(size);
  for (std::uint32_t i = 0; i < size; ++i) {
    identity[i] = i;
  }
  std::vector<NodeMap> found{identity};
  std::set<NodeMap> known{identity};
  for (std::size_t next = 0; next < found.size(); ++next) {
    for (const NodeMap& generator : generators) {
      NodeMap product(size);
      for (std::size_t i = 0; i < size; ++i) {
        product[i] = generator[found[next][i]];
      }
      if (known.insert(product).second) {
        found.push_back(std::move(product));
      }
    }
  }
  return known;
}

/// Whether exactly one member takes NPU 0 to each NPU, and none but one leaves any NPU in place.
[[nodiscard]] inline bool is_regular(const std::set<NodeMap>& group, std::uint32_t npus) {
  std::set<std::uint32_t> targets;
  std::size_t fixing = 0;
  for (const NodeMap& member : group) {
    targets.insert(member[0]);
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      fixing += member[npu] == npu ? 1 : 0;
    }
  }
  return group.size() == npus && targets.size() == npus && fixing == npus;
}

}  // namespace tacos::testing
