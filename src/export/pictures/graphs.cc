// SPDX-License-Identifier: MIT
// The network as a graph, with what the schedule makes of each link.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text/printable.h"
#include "export/pictures/passages.h"
#include "export/pictures/pictures.h"

namespace tacos::exporting {
namespace {

/// As text between tags or in double quotes, of XML and of dot.
std::string escaped(std::string_view text) {
  std::string safe = markup_text(text);
  std::replace(safe.begin(), safe.end(), '\\', '/');
  return safe;
}

/// What a node is called: its own name, or what it is.
std::string label_of(const Topology& topology, NodeId node) {
  const std::string_view name = topology.node_name(node);
  if (!name.empty()) {
    return escaped(name);
  }
  return topology.is_npu(node) ? fmt::format("{}", node.value())
                               : fmt::format("switch {}", node.value());
}

}  // namespace

Result<std::string> graphml_text(const Bundle& bundle, const ExportOptions& /*options*/) {
  const Topology& topology = bundle.topology;
  const Result<std::vector<LinkUse>> uses = uses_of(bundle);
  if (!uses) {
    return uses.error();
  }
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
      "  <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n"
      "  <key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n"
      "  <key id=\"bandwidth_Bps\" for=\"edge\" attr.name=\"bandwidth_Bps\" attr.type=\"long\"/>\n"
      "  <key id=\"latency_ps\" for=\"edge\" attr.name=\"latency_ps\" attr.type=\"long\"/>\n"
      "  <key id=\"transfers\" for=\"edge\" attr.name=\"transfers\" attr.type=\"long\"/>\n"
      "  <key id=\"bytes\" for=\"edge\" attr.name=\"bytes\" attr.type=\"long\"/>\n"
      "  <key id=\"utilization\" for=\"edge\" attr.name=\"utilization\" attr.type=\"double\"/>\n"
      "  <graph edgedefault=\"directed\">\n";
  auto out = std::back_inserter(text);
  for (std::uint32_t node = 0; node < topology.num_nodes(); ++node) {
    fmt::format_to(out,
                   "    <node id=\"n{}\"><data key=\"name\">{}</data><data "
                   "key=\"kind\">{}</data></node>\n",
                   node,
                   label_of(topology, NodeId(node)),
                   topology.is_npu(NodeId(node)) ? "npu" : "switch");
  }
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Link& link = topology.link(LinkId(id));
    const LinkUse& use = (*uses)[id];
    if (topology.failed(LinkId(id))) {
      continue;
    }
    fmt::format_to(out,
                   "    <edge id=\"e{}\" source=\"n{}\" target=\"n{}\">"
                   "<data key=\"bandwidth_Bps\">{}</data><data key=\"latency_ps\">{}</data>"
                   "<data key=\"transfers\">{}</data><data key=\"bytes\">{}</data>"
                   "<data key=\"utilization\">{:.6f}</data></edge>\n",
                   id,
                   link.src.value(),
                   link.dst.value(),
                   link.bandwidth.bytes_per_second,
                   link.latency.ps,
                   use.transfers,
                   use.bytes,
                   utilization(bundle, use));
  }
  text += "  </graph>\n</graphml>\n";
  return text;
}

Result<std::string> dot_text(const Bundle& bundle, const ExportOptions& /*options*/) {
  const Topology& topology = bundle.topology;
  const Result<std::vector<LinkUse>> uses = uses_of(bundle);
  if (!uses) {
    return uses.error();
  }
  std::string text =
      fmt::format("digraph \"{}\" {{\n  node [shape=circle];\n", escaped(topology.name()));
  auto out = std::back_inserter(text);
  for (std::uint32_t node = 0; node < topology.num_nodes(); ++node) {
    fmt::format_to(out,
                   "  n{} [label=\"{}\"{}];\n",
                   node,
                   label_of(topology, NodeId(node)),
                   topology.is_npu(NodeId(node)) ? "" : ", shape=box");
  }
  constexpr double kThickest = 4;
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Link& link = topology.link(LinkId(id));
    const double part = utilization(bundle, (*uses)[id]);
    if (topology.failed(LinkId(id))) {
      continue;
    }
    fmt::format_to(out,
                   "  n{} -> n{} [id=\"e{}\", label=\"{:.0f}%\", penwidth={:.2f}, "
                   "utilization={:.6f}, bytes={}];\n",
                   link.src.value(),
                   link.dst.value(),
                   id,
                   100 * part,
                   std::max(0.25, kThickest * part),
                   part,
                   (*uses)[id].bytes);
  }
  text += "}\n";
  return text;
}

}  // namespace tacos::exporting
