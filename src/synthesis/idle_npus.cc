// SPDX-License-Identifier: MIT
#include "synthesis/idle_npus.h"

#include <algorithm>
#include <vector>

namespace tacos {

std::optional<CompactProblem> without_idle_npus(const Topology& topology, const Problem& problem) {
  if (problem.custom) {
    return std::nullopt;
  }
  std::vector<NodeId> renamed(topology.num_nodes());
  std::uint32_t next = 0;
  std::uint32_t npus = 0;
  for (std::uint32_t id = 0; id < topology.num_nodes(); ++id) {
    const NodeId node(id);
    const bool idle =
        topology.is_npu(node) && topology.in_links(node).empty() &&
        topology.out_links(node).empty() &&
        !std::binary_search(problem.participants.begin(), problem.participants.end(), node);
    if (!idle) {
      renamed[id] = NodeId(next++);
      npus += topology.is_npu(node) ? 1 : 0;
    }
  }
  if (next == topology.num_nodes()) {
    return std::nullopt;
  }
  TopologyBuilder builder(topology.name(), npus, topology.num_switches());
  builder.set_npus_forward(topology.npus_forward());
  builder.reserve_links(topology.num_links());
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    Link link = topology.link(LinkId(id));
    if (topology.failed(LinkId(id))) {
      // It only has to keep its id; its ends may not be there any more, but two NPUs are.
      link.src = NodeId(0);
      link.dst = NodeId(1);
      builder.add_failed_link(link);
      continue;
    }
    link.src = renamed[link.src.index()];
    link.dst = renamed[link.dst.index()];
    builder.add_link(link);
  }
  // Links of a network that was built already are in order.
  CompactProblem compact{.topology = std::move(builder).build().value(), .problem = problem};
  for (NodeId& participant : compact.problem.participants) {
    participant = renamed[participant.index()];
  }
  if (problem.root) {
    compact.problem.root = renamed[problem.root->index()];
  }
  return compact;
}

}  // namespace tacos
