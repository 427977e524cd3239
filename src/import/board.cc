// SPDX-License-Identifier: MIT
#include "import/board.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace tacos::importing {

Board::Node Board::add_npu(std::string name, std::int64_t order) {
  nodes_.push_back({.name = std::move(name), .npu = true, .order = order, .linked = false});
  return static_cast<Node>(nodes_.size() - 1);
}

Board::Node Board::add_switch(std::string name) {
  nodes_.push_back({.name = std::move(name), .npu = false, .order = 0, .linked = false});
  return static_cast<Node>(nodes_.size() - 1);
}

std::size_t Board::num_npus() const {
  return static_cast<std::size_t>(
      std::count_if(nodes_.begin(), nodes_.end(), [](const Entry& node) { return node.npu; }));
}

void Board::link(Node from, Node to, Bandwidth bandwidth, Ticks latency) {
  nodes_[from].linked = true;
  nodes_[to].linked = true;
  wires_.push_back({.from = from, .to = to, .bandwidth = bandwidth, .latency = latency});
}

Result<Topology> Board::build() const {
  std::vector<Node> order;
  for (Node node = 0; node < nodes_.size(); ++node) {
    if (nodes_[node].npu || nodes_[node].linked) {
      order.push_back(node);
    }
  }
  std::stable_sort(order.begin(), order.end(), [this](Node a, Node b) {
    return std::pair(!nodes_[a].npu, nodes_[a].order) < std::pair(!nodes_[b].npu, nodes_[b].order);
  });
  std::vector<std::uint32_t> ids(nodes_.size());
  std::vector<std::string> names;
  for (std::uint32_t id = 0; id < order.size(); ++id) {
    ids[order[id]] = id;
    names.push_back(nodes_[order[id]].name);
  }
  const auto npus = static_cast<std::uint32_t>(num_npus());
  if (npus == 0) {
    return input_error("lists no NPU", source_.where());
  }
  TopologyBuilder builder(source_.name(), npus, static_cast<std::uint32_t>(order.size()) - npus);
  builder.set_node_names(std::move(names));
  for (const Wire& wire : wires_) {
    builder.add_link({.src = NodeId(ids[wire.from]),
                      .dst = NodeId(ids[wire.to]),
                      .bandwidth = wire.bandwidth,
                      .latency = wire.latency});
  }
  Result<Topology> topology = std::move(builder).build();
  if (!topology) {
    const std::string inside = topology.error().where;
    return input_error(inside.empty() ? topology.error().message
                                      : fmt::format("{} {}", inside, topology.error().message),
                       source_.where());
  }
  return topology;
}

}  // namespace tacos::importing
