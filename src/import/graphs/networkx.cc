// SPDX-License-Identifier: MIT
// networkx's node-link JSON (json.dump(nx.node_link_data(g), file)); edges are called `edges` or,
// before networkx 3.4, `links`. O(length log nodes).
#include <fmt/format.h>

#include "base/text/json_reader.h"
#include "import/formats.h"
#include "import/graphs/attributed_graph.h"

namespace tacos::importing {
namespace {

/// As people would write it: texts without quotes, 50000000000.0 as 50000000000.
std::string text_of(const Json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  constexpr double kExact = 9e15;
  if (value.is_number_float() && value.get<double>() > -kExact && value.get<double>() < kExact) {
    const double number = value.get<double>();
    const auto rounded = static_cast<std::int64_t>(number);
    return static_cast<double>(rounded) == number ? fmt::format("{}", rounded)
                                                  : fmt::format("{}", number);
  }
  return value.dump();
}

Attributes attributes_of(const Json& object) {
  Attributes attributes;
  for (const auto& [key, value] : object.items()) {
    attributes.emplace_back(key, text_of(value));
  }
  return attributes;
}

Result<Topology> read_graph(const Source& source, const Json& file) {
  const char* const edges = file.is_object() && file.contains("edges") ? "edges" : "links";
  for (const char* const key : {"nodes", edges}) {
    if (!file.is_object() || !file.contains(key) || !file[key].is_array()) {
      return json_error(source.where(), key, "must be a list");
    }
  }
  const Json directed = file.value("directed", Json(false));
  AttributedGraph graph;
  for (std::size_t i = 0; i < file["nodes"].size(); ++i) {
    const Json& node = file["nodes"][i];
    const std::string path = fmt::format("nodes[{}]", i);
    if (!node.is_object() || !node.contains("id")) {
      return json_error(source.where(), path, "must be an object with an id");
    }
    graph.nodes.push_back({.id = text_of(node["id"]),
                           .attributes = attributes_of(node),
                           .where = source.where() + ": " + path});
  }
  for (std::size_t i = 0; i < file[edges].size(); ++i) {
    const Json& edge = file[edges][i];
    const std::string path = fmt::format("{}[{}]", edges, i);
    if (!edge.is_object() || !edge.contains("source") || !edge.contains("target")) {
      return json_error(source.where(), path, "must be an object with source and target");
    }
    graph.edges.push_back({.source = text_of(edge["source"]),
                           .target = text_of(edge["target"]),
                           .directed = directed.is_boolean() && directed.get<bool>(),
                           .attributes = attributes_of(edge),
                           .where = source.where() + ": " + path});
  }
  return make_network(source, graph);
}

}  // namespace

Result<Topology> read_networkx(const Source& source) {
  return read_json<Topology>(
      source.text(), source.where(), [&](const Json& file) { return read_graph(source, file); });
}

}  // namespace tacos::importing
