// SPDX-License-Identifier: MIT
// The flows behind the exact All-Gather bound, by SinkFlow and by LEMON's preflow-push: verifies
// that the optimal ratio of a grid suffices for every sink, sink by sink, earlier sinks made
// sources.
//   max_flow_bench [spec of a network without switches]...
// The figures of docs/adr/0010-max-flow.md come from here.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include "tacos/topology.h"

#include "bound/flows/sink_flow.h"

namespace tacos {
namespace {

using Clock = std::chrono::steady_clock;
using Graph = FlowGraph<std::int64_t>;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::uint32_t> breadth_first(const Graph& graph) {
  std::vector<std::uint32_t> order{0};
  std::vector<std::uint8_t> seen(graph.num_nodes(), 0);
  seen[0] = 1;
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (std::uint32_t arc = graph.first(order[at]); arc < graph.first(order[at] + 1); ++arc) {
      if (seen[graph.arc(arc).head] == 0) {
        seen[graph.arc(arc).head] = 1;
        order.push_back(graph.arc(arc).head);
      }
    }
  }
  return order;
}

struct Ratio {
  std::int64_t p;
  std::int64_t q;
};

Ratio worst_ingress(const Graph& graph) {
  std::int64_t least = graph.in_capacity(0);
  for (std::uint32_t node = 0; node < graph.num_nodes(); ++node) {
    least = std::min(least, graph.in_capacity(node));
  }
  return {std::int64_t{graph.num_nodes()} - 1, least};
}

int missed_by_sink_flow(const Graph& graph, const Ratio& ratio) {
  SinkFlow<std::int64_t> flow(graph);
  const std::vector<std::int64_t> ones(graph.num_nodes(), 1);
  flow.set_capacity_factor(ratio.p);
  flow.set_supply(ratio.q, ones);
  int missed = 0;
  for (const std::uint32_t sink : breadth_first(graph)) {
    const std::int64_t target = ratio.q * (std::int64_t{graph.num_nodes()} - 1);
    missed += flow.run(sink, target) < target ? 1 : 0;
    flow.make_source(sink);
  }
  return missed;
}

int missed_by_preflow(const Graph& graph, const Ratio& ratio) {
  lemon::SmartDigraph digraph;
  lemon::SmartDigraph::ArcMap<std::int64_t> capacity(digraph);
  std::vector<lemon::SmartDigraph::Node> nodes;
  for (std::uint32_t node = 0; node < graph.num_nodes(); ++node) {
    nodes.push_back(digraph.addNode());
  }
  const auto source = digraph.addNode();
  for (std::uint32_t node = 0; node < graph.num_nodes(); ++node) {
    for (std::uint32_t arc = graph.first(node); arc < graph.first(node + 1); ++arc) {
      capacity[digraph.addArc(nodes[node], nodes[graph.arc(arc).head])] =
          graph.arc(arc).capacity * ratio.p;
    }
  }
  std::vector<lemon::SmartDigraph::Arc> supply;
  for (const auto& node : nodes) {
    supply.push_back(digraph.addArc(source, node));
    capacity[supply.back()] = ratio.q;
  }
  const std::int64_t target = ratio.q * graph.num_nodes();
  int missed = 0;
  for (const std::uint32_t sink : breadth_first(graph)) {
    lemon::Preflow<lemon::SmartDigraph, lemon::SmartDigraph::ArcMap<std::int64_t>> flow(
        digraph, capacity, source, nodes[sink]);
    flow.runMinCut();
    missed += flow.flowValue() < target ? 1 : 0;
    capacity[supply[sink]] = target;
  }
  return missed;
}

void compare(const std::string& spec) {
  const Topology topology = parse_topology_spec(spec).value();
  const Graph graph(topology, bandwidth_unit(topology));
  const Ratio ratio = worst_ingress(graph);
  auto start = Clock::now();
  const int ours = missed_by_sink_flow(graph, ratio);
  const double our_seconds = seconds_since(start);
  start = Clock::now();
  const int theirs = missed_by_preflow(graph, ratio);
  const double their_seconds = seconds_since(start);
  fmt::print("{:16} SinkFlow {:9.4f} s ({} missed)  LEMON Preflow {:9.4f} s ({} missed)  {:.0f}x\n",
             spec,
             our_seconds,
             ours,
             their_seconds,
             theirs,
             their_seconds / our_seconds);
}

}  // namespace
}  // namespace tacos

int main(int argc, char** argv) {
  std::vector<std::string> specs(argv + 1, argv + argc);
  if (specs.empty()) {
    specs = {"mesh:16x16", "mesh:32x32", "torus:32x32", "torus:10x10x10"};
  }
  for (const std::string& spec : specs) {
    tacos::compare(spec);
  }
  return 0;
}
