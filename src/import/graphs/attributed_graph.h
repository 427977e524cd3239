// SPDX-License-Identifier: MIT
// Graphs of programs that know nothing of networks: nodes and edges with attributes, in which
// bandwidths and latencies are looked for.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tacos/topology.h"

#include "import/source.h"

namespace tacos::importing {

using Attributes = std::vector<std::pair<std::string, std::string>>;

struct GraphNode {
  std::string id;
  Attributes attributes;
  /// In errors: file and line, or path.
  std::string where;
};

struct GraphEdge {
  std::string source;
  std::string target;
  bool directed = false;
  Attributes attributes;
  std::string where;
};

struct AttributedGraph {
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
};

/// NPUs and switches in the order of the nodes. O((nodes + edges) log nodes).
[[nodiscard]] Result<Topology> make_network(const Source& source, const AttributedGraph& graph);

}  // namespace tacos::importing
