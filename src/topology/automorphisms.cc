// SPDX-License-Identifier: MIT
// bliss (Junttila and Kaski 2007) knows undirected graphs with coloured vertices. A node is a
// vertex; all links between two nodes are one edge between them, which has a vertex of its own to
// be coloured where not all such cables are alike, and two where the directions differ. The most
// common cable goes without, so that on a torus the graph is just the torus.
#include "topology/automorphisms.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

#include <bliss/graph.hh>

namespace tacos {
namespace {

/// Of each link: what it costs.
using Cost = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

Cost cost_of(const Link& link) {
  return {link.bandwidth.bytes_per_second, link.latency.ps, link.gap.ps};
}

/// All links between two nodes. `there` costs no more than `back`, in the order of std::vector.
struct Cable {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::vector<Cost> there;
  std::vector<Cost> back;

  [[nodiscard]] bool symmetric() const { return there == back; }
};

std::vector<Cable> cables_of(const Topology& topology) {
  std::vector<std::tuple<std::uint32_t, std::uint32_t, bool, Cost>> links;
  links.reserve(topology.num_links());
  for (const Link& link : topology.links()) {
    const std::uint32_t low = std::min(link.src.value(), link.dst.value());
    const std::uint32_t high = std::max(link.src.value(), link.dst.value());
    links.emplace_back(low, high, link.src.value() == high, cost_of(link));
  }
  std::sort(links.begin(), links.end());
  std::vector<Cable> cables;
  for (const auto& [low, high, turned, cost] : links) {
    if (cables.empty() || cables.back().from != low || cables.back().to != high) {
      cables.push_back({.from = low, .to = high, .there = {}, .back = {}});
    }
    (turned ? cables.back().back : cables.back().there).push_back(cost);
  }
  for (Cable& cable : cables) {
    if (cable.back < cable.there) {
      std::swap(cable.from, cable.to);
      std::swap(cable.there, cable.back);
    }
  }
  return cables;
}

/// All links of a node as (other node, whether it leads out, cost), sorted.
using Neighbourhood = std::vector<std::tuple<std::uint32_t, bool, Cost>>;

Neighbourhood neighbourhood_of(const Topology& topology, NodeId node) {
  Neighbourhood neighbourhood;
  for (const LinkId id : topology.out_links(node)) {
    const Link& link = topology.link(id);
    neighbourhood.emplace_back(link.dst.value(), true, cost_of(link));
  }
  for (const LinkId id : topology.in_links(node)) {
    const Link& link = topology.link(id);
    neighbourhood.emplace_back(link.src.value(), false, cost_of(link));
  }
  std::sort(neighbourhood.begin(), neighbourhood.end());
  return neighbourhood;
}

/// For each switch how many with the same neighbours come before it. Colouring them so keeps a
/// symmetry of the NPUs from being many symmetries of the network.
std::vector<std::uint32_t> ranks_among_twins(const Topology& topology) {
  std::map<Neighbourhood, std::uint32_t> seen;
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t node = topology.num_npus(); node < topology.num_nodes(); ++node) {
    ranks.push_back(seen[neighbourhood_of(topology, NodeId(node))]++);
  }
  return ranks;
}

class ColouredGraph {
 public:
  explicit ColouredGraph(const Topology& topology) : nodes_(topology.num_nodes()) {
    const std::vector<std::uint32_t> ranks = ranks_among_twins(topology);
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      // Switches have odd colours, all others even ones.
      graph_.add_vertex(node < topology.num_npus() ? 0 : 2 * ranks[node - topology.num_npus()] + 1);
    }
    add_links(topology);
  }

  /// Symmetries must commute with the permutation: an arrow from each NPU to where it goes.
  void keep(const Permutation& permutation, std::uint32_t npus) {
    const std::uint32_t colour = new_colours();
    bool involution = true;
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      involution = involution && permutation[permutation[npu]] == npu;
    }
    for (std::uint32_t npu = 0; npu < npus; ++npu) {
      if (involution && npu < permutation[npu]) {
        join(npu, permutation[npu], colour);
      } else if (!involution && npu != permutation[npu]) {
        join_directed(npu, permutation[npu], colour);
      }
    }
  }

  /// Symmetries must keep the permutations, but not which is which: all arrows look the same, and
  /// those of one permutation are tied together.
  void keep_together(std::span<const Permutation> permutations, std::uint32_t npus) {
    const std::uint32_t arrow_colours = new_colours();
    const std::uint32_t knot_colour = new_colours();
    for (const Permutation& permutation : permutations) {
      const unsigned int knot = graph_.add_vertex(knot_colour);
      for (std::uint32_t npu = 0; npu < npus; ++npu) {
        graph_.add_edge(knot, join_directed(npu, permutation[npu], arrow_colours));
      }
    }
  }

  std::vector<Permutation> generators() {
    Found found{.nodes = nodes_, .generators = {}};
    // Would leak memory in version 0.73 when there are no symmetries, and is no help here.
    graph_.set_component_recursion(false);
    bliss::Stats stats;
    graph_.find_automorphisms(
        stats,
        [](void* into, unsigned int, const unsigned int* images) {
          auto& [nodes, generators] = *static_cast<Found*>(into);
          generators.emplace_back(images, images + nodes);
        },
        &found);
    return std::move(found.generators);
  }

 private:
  struct Found {
    std::uint32_t nodes = 0;
    std::vector<Permutation> generators;
  };

  void add_links(const Topology& topology) {
    const std::vector<Cable> cables = cables_of(topology);
    struct Kind {
      std::uint32_t count = 0;
      std::uint32_t colour = 0;
    };
    std::map<std::pair<std::vector<Cost>, std::vector<Cost>>, Kind> kinds;
    for (const Cable& cable : cables) {
      ++kinds[{cable.there, cable.back}].count;
    }
    Kind* common = nullptr;
    for (auto& [costs, kind] : kinds) {
      kind.colour = new_colours();
      if (costs.first == costs.second && (common == nullptr || kind.count > common->count)) {
        common = &kind;
      }
    }
    for (const Cable& cable : cables) {
      const Kind& kind = kinds.at({cable.there, cable.back});
      if (&kind == common) {
        graph_.add_edge(cable.from, cable.to);
      } else if (cable.symmetric()) {
        join(cable.from, cable.to, kind.colour);
      } else {
        join_directed(cable.from, cable.to, kind.colour);
      }
    }
  }

  /// Two colours that nothing else has: this and the next even number.
  std::uint32_t new_colours() {
    colours_ += 4;
    return colours_ - 2;
  }
  void join(std::uint32_t a, std::uint32_t b, std::uint32_t colour) {
    const unsigned int middle = graph_.add_vertex(colour);
    graph_.add_edge(a, middle);
    graph_.add_edge(middle, b);
  }
  unsigned int join_directed(std::uint32_t from, std::uint32_t to, std::uint32_t colour) {
    const unsigned int tail = graph_.add_vertex(colour);
    const unsigned int head = graph_.add_vertex(colour + 2);
    graph_.add_edge(from, tail);
    graph_.add_edge(tail, head);
    graph_.add_edge(head, to);
    return tail;
  }

  std::uint32_t nodes_;
  std::uint32_t colours_ = 0;
  bliss::Graph graph_;
};

/// The links of one NPU, of two that are joined, with the other called by a name that both use.
Neighbourhood apart_from(Neighbourhood neighbourhood, std::uint32_t other) {
  for (auto& [neighbour, out, cost] : neighbourhood) {
    neighbour = neighbour == other ? 0xffffffff : neighbour;
  }
  std::sort(neighbourhood.begin(), neighbourhood.end());
  return neighbourhood;
}

/// NPUs after `npu` that may be swapped with it without a change to anything else, increasing. They
/// are neighbours of it, or of any neighbour of it.
std::vector<std::uint32_t> later_twins(const Topology& topology, std::uint32_t npu) {
  const Neighbourhood here = neighbourhood_of(topology, NodeId(npu));
  std::vector<std::uint32_t> twins;
  if (here.empty()) {
    return twins;
  }
  Neighbourhood near = neighbourhood_of(topology, NodeId(std::get<0>(here.front())));
  near.insert(near.end(), here.begin(), here.end());
  for (const auto& [node, out, cost] : near) {
    if (node > npu && node < topology.num_npus()) {
      twins.push_back(node);
    }
  }
  std::sort(twins.begin(), twins.end());
  twins.erase(std::unique(twins.begin(), twins.end()), twins.end());
  std::erase_if(twins, [&](std::uint32_t twin) {
    return apart_from(here, twin) != apart_from(neighbourhood_of(topology, NodeId(twin)), npu);
  });
  return twins;
}

}  // namespace

std::vector<Permutation> automorphisms(const Topology& topology,
                                       std::span<const Permutation> kept,
                                       Keep how) {
  ColouredGraph graph(topology);
  if (how == Keep::kAll) {
    graph.keep_together(kept, topology.num_npus());
  } else {
    for (const Permutation& permutation : kept) {
      graph.keep(permutation, topology.num_npus());
    }
  }
  return graph.generators();
}

Permutation link_permutation(const Topology& topology, const Permutation& nodes) {
  // Links in order of ends and cost; the images in the order of where they must go.
  const auto sorted_by_ends = [&](const Permutation* renamed) {
    std::vector<std::tuple<std::uint32_t, std::uint32_t, Cost, std::uint32_t>> links;
    links.reserve(topology.num_links());
    for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
      const Link& link = topology.link(LinkId(id));
      if (topology.failed(LinkId(id))) {
        continue;
      }
      const std::uint32_t src = link.src.value();
      const std::uint32_t dst = link.dst.value();
      links.emplace_back(renamed == nullptr ? src : (*renamed)[src],
                         renamed == nullptr ? dst : (*renamed)[dst],
                         cost_of(link),
                         id);
    }
    std::sort(links.begin(), links.end());
    return links;
  };
  const auto to = sorted_by_ends(nullptr);
  const auto from = sorted_by_ends(&nodes);
  // Links that failed stay where they are.
  Permutation links = identity_permutation(topology.num_links());
  for (std::size_t i = 0; i < from.size(); ++i) {
    links[std::get<3>(from[i])] = std::get<3>(to[i]);
  }
  return links;
}

Permutation twin_rotation(const Topology& topology) {
  Permutation rotation = identity_permutation(topology.num_nodes());
  std::vector<bool> placed(topology.num_npus(), false);
  for (std::uint32_t first = 0; first < topology.num_npus(); ++first) {
    if (placed[first]) {
      continue;
    }
    std::uint32_t last = first;
    for (const std::uint32_t twin : later_twins(topology, first)) {
      rotation[last] = twin;
      rotation[twin] = first;
      last = twin;
      placed[twin] = true;
    }
    if (last == 0) {
      break;
    }
  }
  return rotation;
}

}  // namespace tacos
