// SPDX-License-Identifier: MIT
#include "view/piece.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/numbers/mixed_radix.h"
#include "topology/generators.h"

namespace tacos::viewing {
namespace {

std::vector<std::uint32_t> lengths_of(const std::vector<Dimension>& dimensions) {
  std::vector<std::uint32_t> lengths(dimensions.size());
  std::transform(dimensions.begin(), dimensions.end(), lengths.begin(), [](const Dimension& one) {
    return one.length;
  });
  return lengths;
}

/// Every dimension cut to `radius` in both directions; a ring that is cut is a line.
std::vector<Dimension> cut_to(std::span<const Dimension> dimensions, std::uint32_t radius) {
  std::vector<Dimension> cut(dimensions.begin(), dimensions.end());
  for (Dimension& one : cut) {
    if (one.length > 2 * radius + 1) {
      one.length = 2 * radius + 1;
      one.wiring = one.wiring == Wiring::kRing ? Wiring::kLine : one.wiring;
    }
  }
  return cut;
}

std::uint64_t size_of(const std::vector<Dimension>& dimensions) {
  std::uint64_t size = 1;
  for (const Dimension& one : dimensions) {
    size *= one.length;
  }
  return size;
}

/// The link between two nodes, if there is one.
std::optional<LinkId> link_between(const Topology& topology, NodeId from, NodeId to) {
  for (const LinkId link : topology.out_links(from)) {
    if (topology.link(link).dst == to) {
      return link;
    }
  }
  return std::nullopt;
}

std::optional<Piece> box_around(const Topology& topology, std::uint32_t most_npus) {
  const std::span<const Dimension> whole = topology.dimensions();
  const bool switched = std::any_of(whole.begin(), whole.end(), [](const Dimension& one) {
    return one.wiring == Wiring::kSwitch;
  });
  if (whole.empty() || switched) {
    return std::nullopt;
  }
  std::uint32_t radius = 0;
  while (size_of(cut_to(whole, radius + 1)) <= most_npus &&
         size_of(cut_to(whole, radius + 1)) > size_of(cut_to(whole, radius))) {
    ++radius;
  }
  const std::vector<Dimension> dimensions = cut_to(whole, radius);
  Result<Topology> network = make_product(topology.name(), dimensions);
  if (!network) {
    return std::nullopt;
  }
  Piece piece{.network = *std::move(network), .nodes = {}, .links = {}};
  const MixedRadix inner(lengths_of(dimensions));
  const MixedRadix outer(lengths_of({whole.begin(), whole.end()}));
  // Where rings are cut NPU 0 is in the middle, and a corner of what is whole.
  std::uint32_t middle = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    middle += (dimensions[i].length < whole[i].length ? radius : 0) * outer.stride(i);
  }
  piece.nodes.reserve(inner.size());
  for (std::uint32_t npu = 0; npu < inner.size(); ++npu) {
    std::uint32_t id = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      id += inner.digit(npu, i) * outer.stride(i);
    }
    piece.nodes.emplace_back(outer.subtract(id, middle));
  }
  piece.links.reserve(piece.network.num_links());
  for (const Link& link : piece.network.all_links()) {
    const std::optional<LinkId> found =
        link_between(topology, piece.nodes[link.src.index()], piece.nodes[link.dst.index()]);
    if (!found) {
      return std::nullopt;
    }
    piece.links.push_back(*found);
  }
  return piece;
}

/// Nodes in the order in which links reach them, NPUs first.
std::vector<NodeId> reached_from_npu_0(const Topology& topology, std::uint32_t most_npus) {
  std::vector<NodeId> nodes{NodeId(0)};
  std::unordered_map<std::uint32_t, bool> seen{{0, true}};
  std::uint32_t npus = 1;
  for (std::size_t at = 0; at < nodes.size() && npus < most_npus; ++at) {
    for (const LinkId link : topology.out_links(nodes[at])) {
      const NodeId next = topology.link(link).dst;
      if (npus == most_npus || !seen.try_emplace(next.value(), true).second) {
        continue;
      }
      npus += topology.is_npu(next) ? 1 : 0;
      nodes.push_back(next);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

Piece reached(const Topology& topology, std::uint32_t most_npus) {
  std::vector<NodeId> nodes = reached_from_npu_0(topology, most_npus);
  std::unordered_map<std::uint32_t, std::uint32_t> number;
  std::uint32_t npus = 0;
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    number.emplace(nodes[i].value(), i);
    npus += topology.is_npu(nodes[i]) ? 1 : 0;
  }
  TopologyBuilder builder(topology.name(), npus, static_cast<std::uint32_t>(nodes.size()) - npus);
  std::vector<LinkId> links;
  std::vector<std::string> names;
  for (const NodeId node : nodes) {
    if (!topology.node_names().empty()) {
      names.emplace_back(topology.node_name(node));
    }
    for (const LinkId id : topology.out_links(node)) {
      Link link = topology.link(id);
      const auto to = number.find(link.dst.value());
      if (to != number.end()) {
        link.src = NodeId(number.at(node.value()));
        link.dst = NodeId(to->second);
        builder.add_link(link);
        links.push_back(id);
      }
    }
  }
  builder.set_node_names(std::move(names));
  // Links of a network that was built already are in order.
  return {.network = std::move(builder).build().value(),
          .nodes = std::move(nodes),
          .links = std::move(links)};
}

}  // namespace

Piece around_npu_0(const Topology& topology, std::uint32_t most_npus) {
  std::optional<Piece> box = box_around(topology, most_npus);
  return box ? *std::move(box) : reached(topology, most_npus);
}

}  // namespace tacos::viewing
