// SPDX-License-Identifier: MIT
// A search from the root where data only leaves it, against the links where it only comes there.
// All participants reach each other exactly when one reaches every other and every other reaches
// it: both searches.
#include "synthesis/reachability.h"

#include <vector>

namespace tacos {
namespace {

/// Nodes that `from` reaches along the links, or against them.
std::vector<bool> reached(const Topology& topology, NodeId from, bool along) {
  std::vector<bool> seen(topology.num_nodes(), false);
  std::vector<NodeId> stack{from};
  seen[from.index()] = true;
  while (!stack.empty()) {
    const NodeId node = stack.back();
    stack.pop_back();
    for (const LinkId id : along ? topology.out_links(node) : topology.in_links(node)) {
      const NodeId next = along ? topology.link(id).dst : topology.link(id).src;
      if (!seen[next.index()]) {
        seen[next.index()] = true;
        stack.push_back(next);
      }
    }
  }
  return seen;
}

}  // namespace

std::optional<std::pair<NodeId, NodeId>> find_unreachable(const Topology& topology,
                                                          const Problem& problem) {
  const bool leaves = traits(problem.kind).after != Holder::kRoot;
  const bool comes = traits(problem.kind).before != Holder::kRoot;
  const NodeId hub = problem.root.value_or(problem.participants.front());
  const std::vector<bool> out = reached(topology, hub, true);
  const std::vector<bool> in = reached(topology, hub, false);
  for (const NodeId other : problem.participants) {
    if (leaves && !out[other.index()]) {
      return std::pair(hub, other);
    }
    if (comes && !in[other.index()]) {
      return std::pair(other, hub);
    }
  }
  return std::nullopt;
}

}  // namespace tacos
