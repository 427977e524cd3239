// SPDX-License-Identifier: MIT
// GraphML, as networkx, yEd and the Internet Topology Zoo write it. O(length log nodes).
#include <map>

#include <fmt/format.h>

#include "import/formats.h"
#include "import/graphs/attributed_graph.h"
#include "import/text/fields.h"
#include "import/text/xml.h"

namespace tacos::importing {
namespace {

/// What <key> elements call the attributes that <data> elements give.
using Keys = std::map<std::string, std::string, std::less<>>;

Attributes attributes_of(const XmlElement& element, const Keys& keys) {
  Attributes attributes;
  for (const XmlElement& data : element.children) {
    if (data.name != "data") {
      continue;
    }
    const std::string_view id = data.attribute("key");
    const auto key = keys.find(id);
    attributes.emplace_back(key == keys.end() ? std::string(id) : key->second,
                            std::string(trimmed(data.text)));
  }
  return attributes;
}

}  // namespace

Result<Topology> read_graphml(const Source& source) {
  const Result<XmlElement> root = parse_xml(source.text(), source.where());
  if (!root) {
    return root.error();
  }
  Keys keys;
  const XmlElement* graph = nullptr;
  for (const XmlElement& child : root->children) {
    if (child.name == "key") {
      const std::string_view name = child.attribute("attr.name");
      keys.emplace(child.attribute("id"), name.empty() ? child.attribute("id") : name);
    } else if (child.name == "graph" && graph == nullptr) {
      graph = &child;
    }
  }
  if (root->name != "graphml" || graph == nullptr) {
    return source.error(root->line, "has no <graph> in a <graphml>");
  }
  const bool directed = graph->attribute("edgedefault") == "directed";
  AttributedGraph made;
  for (const XmlElement& child : graph->children) {
    if (child.name == "node") {
      made.nodes.push_back({.id = std::string(child.attribute("id")),
                            .attributes = attributes_of(child, keys),
                            .where = source.at(child.line)});
    } else if (child.name == "edge") {
      const std::string_view own = child.attribute("directed");
      made.edges.push_back({.source = std::string(child.attribute("source")),
                            .target = std::string(child.attribute("target")),
                            .directed = own.empty() ? directed : own == "true",
                            .attributes = attributes_of(child, keys),
                            .where = source.at(child.line)});
    } else if (child.name == "hyperedge") {
      source.warn(child.line, "<hyperedge> is not known and left out");
    }
  }
  return make_network(source, made);
}

}  // namespace tacos::importing
