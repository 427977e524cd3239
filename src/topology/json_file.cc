// SPDX-License-Identifier: MIT
// The project's own topology file, docs/topology-format.md.
#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "tacos/topology.h"

#include "base/numbers/wide.h"
#include "base/text/json_reader.h"
#include "base/text/suggest.h"
#include "topology/generators.h"

namespace tacos {
namespace {

/// The version that is written; all up to it are read.
constexpr std::int64_t kVersion = 2;

struct ReadLink {
  Link link;
  bool failed = false;
};

Result<ReadLink> read_link(const Json& item, const std::string& where, const std::string& path) {
  if (!item.is_object()) {
    return json_error(where, path, "must be an object with src, dst, bandwidth_Bps, latency_ps");
  }
  constexpr std::array<std::string_view, 6> kKeys{
      "src", "dst", "bandwidth_Bps", "latency_ps", "gap_ps", "failed"};
  if (Status known = check_keys(item, kKeys, where, path); !known) {
    return known.error();
  }
  ObjectReader reader(item, where, path);
  constexpr std::int64_t kMaxId = (1LL << 32U) - 2;
  const Link made{.src = NodeId(static_cast<std::uint32_t>(reader.required("src", kMaxId))),
                  .dst = NodeId(static_cast<std::uint32_t>(reader.required("dst", kMaxId))),
                  .bandwidth = {reader.required("bandwidth_Bps", kMaxBytesPerSecond)},
                  .latency = {reader.optional("latency_ps", kMaxTime.ps, 0)},
                  .gap = {reader.optional("gap_ps", kMaxTime.ps, 0)}};
  const ReadLink link{.link = made, .failed = reader.flag("failed")};
  if (reader.failure()) {
    return *reader.failure();
  }
  return link;
}

/// Nothing where there is none, so that networks without gaps are written as ever.
std::string gap_json(Ticks gap) {
  return gap == Ticks{} ? std::string() : fmt::format(", \"gap_ps\": {}", gap.ps);
}

/// Names of the wirings in files.
constexpr std::array<std::pair<std::string_view, Wiring>, 4> kWirings{
    std::pair{"line", Wiring::kLine},
    std::pair{"ring", Wiring::kRing},
    std::pair{"fully-connected", Wiring::kFullyConnected},
    std::pair{"switch", Wiring::kSwitch}};

std::string name_of(const Json& json, const std::string& where) {
  return json.value("name", std::filesystem::path(where).stem().string());
}

Result<Dimension> read_dimension(const Json& item,
                                 const std::string& where,
                                 const std::string& path) {
  constexpr std::array<std::string_view, 5> kKeys{
      "wiring", "length", "bandwidth_Bps", "latency_ps", "gap_ps"};
  if (!item.is_object() || !item.contains("wiring") || !item["wiring"].is_string()) {
    return json_error(where, path, "must be an object with wiring, length, bandwidth_Bps");
  }
  if (Status known = check_keys(item, kKeys, where, path); !known) {
    return known.error();
  }
  const auto wiring = item["wiring"].get<std::string>();
  std::vector<std::string_view> names;
  std::optional<Wiring> found;
  for (const auto& [name, value] : kWirings) {
    names.push_back(name);
    if (name == wiring) {
      found = value;
    }
  }
  if (!found) {
    return json_error(where, path, unknown_name("wiring", wiring, names));
  }
  ObjectReader reader(item, where, path);
  const Dimension dimension{
      .wiring = *found,
      .length = static_cast<std::uint32_t>(reader.required("length", kMaxLength)),
      .bandwidth = {reader.required("bandwidth_Bps", kMaxBytesPerSecond)},
      .latency = {reader.optional("latency_ps", kMaxTime.ps, 0)},
      .gap = {reader.optional("gap_ps", kMaxTime.ps, 0)}};
  if (reader.failure()) {
    return *reader.failure();
  }
  if (dimension.length == 0) {
    return json_error(where, path, "a dimension of 0 holds no NPU; use 1 or more");
  }
  return dimension;
}

/// `switches` is -1 when the file does not say.
Result<Topology> read_product(const Json& json,
                              const std::string& where,
                              std::int64_t npus,
                              std::int64_t switches,
                              std::vector<std::string> names) {
  const Json& items = json["dimensions"];
  if (json.contains("links") || !items.is_array()) {
    return json_error(where, "dimensions", "must be an array, in place of 'links'");
  }
  std::vector<Dimension> dimensions;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Result<Dimension> dimension =
        read_dimension(items[i], where, fmt::format("dimensions[{}]", i));
    if (!dimension) {
      return dimension.error();
    }
    dimensions.push_back(*dimension);
  }
  // Before anything is made: it could be large.
  const auto made = std::accumulate(
      dimensions.begin(), dimensions.end(), Int128{1}, [](Int128 sum, const Dimension& dimension) {
        return saturating_product(sum, dimension.length);
      });
  if (made != npus) {
    return json_error(where, "npus", fmt::format("is {}, which its dimensions do not make", npus));
  }
  Result<Topology> topology = make_product(name_of(json, where), dimensions, std::move(names));
  if (!topology) {
    const bool names_wrong = topology.error().where == "node_names";
    return json_error(where, names_wrong ? "node_names" : "dimensions", topology.error().message);
  }
  if (switches >= 0 && topology->num_switches() != switches) {
    return json_error(
        where,
        "dimensions",
        fmt::format("make {} switches, not what the file says", topology->num_switches()));
  }
  return topology;
}

Result<std::vector<std::string>> read_names(const Json& json, const std::string& where) {
  std::vector<std::string> names;
  if (!json.contains("node_names")) {
    return names;
  }
  const Json& items = json["node_names"];
  const auto is_text = [](const Json& item) { return item.is_string(); };
  if (!items.is_array() || !std::all_of(items.begin(), items.end(), is_text)) {
    return json_error(where, "node_names", "must be a list of strings, one for each node");
  }
  for (const Json& item : items) {
    names.push_back(item.get<std::string>());
  }
  return names;
}

Result<Topology> read_topology(const Json& json, const std::string& where) {
  if (!json.is_object()) {
    return json_error(where, "", "must be a JSON object with 'npus' and 'links'");
  }
  constexpr std::array<std::string_view, 8> kKeys{
      "version", "name", "npus", "switches", "links", "dimensions", "node_names", "npus_forward"};
  // Another version may have other keys: say so before one is called unknown.
  ObjectReader reader(json, where, "");
  const std::int64_t version =
      reader.optional("version", std::numeric_limits<std::int64_t>::max(), kVersion);
  if (!reader.failure() && (version < 1 || version > kVersion)) {
    return json_error(where,
                      "version",
                      fmt::format("is {}; this program reads versions 1 to {}", version, kVersion));
  }
  if (Status known = check_keys(json, kKeys, where, ""); !known) {
    return known.error();
  }
  if (json.contains("name") && !json["name"].is_string()) {
    return json_error(where, "name", "must be a string");
  }
  const std::int64_t npus = reader.required("npus", kMaxNodes);
  const std::int64_t switches = reader.optional("switches", kMaxNodes, 0);
  const bool forwards = reader.flag("npus_forward");
  if (reader.failure()) {
    return *reader.failure();
  }
  Result<std::vector<std::string>> names = read_names(json, where);
  if (!names) {
    return names.error();
  }
  if (json.contains("dimensions")) {
    Result<Topology> product = read_product(
        json, where, npus, json.contains("switches") ? switches : -1, *std::move(names));
    return product ? product->with_forwarding(forwards) : std::move(product);
  }
  if (!json.contains("links") || !json["links"].is_array()) {
    return json_error(where, "links", "must be an array of links");
  }
  const Json& links = json["links"];
  TopologyBuilder builder(
      name_of(json, where), static_cast<std::uint32_t>(npus), static_cast<std::uint32_t>(switches));
  builder.set_node_names(*std::move(names));
  builder.set_npus_forward(forwards);
  builder.reserve_links(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Result<ReadLink> link = read_link(links[i], where, fmt::format("links[{}]", i));
    if (!link) {
      return link.error();
    }
    link->failed ? builder.add_failed_link(link->link) : builder.add_link(link->link);
  }
  // A network that was made from a spec keeps it as its name.
  if (json.contains("name")) {
    builder.set_dimensions(product_dimensions(json["name"].get<std::string>()));
  }
  Result<Topology> topology = std::move(builder).build();
  if (!topology) {
    return json_error(where, topology.error().where, topology.error().message);
  }
  return topology;
}

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Everything before the links.
std::string head_json(const Topology& topology) {
  std::string text =
      fmt::format("{{\n  \"version\": {},\n  \"name\": {},\n  \"npus\": {},\n  \"switches\": {},\n",
                  kVersion,
                  quoted(topology.name()),
                  topology.num_npus(),
                  topology.num_switches());
  text += topology.npus_forward() ? "  \"npus_forward\": true,\n" : "";
  const char* separator = "  \"node_names\": [";
  for (const std::string& name : topology.node_names()) {
    text += separator + quoted(name);
    separator = ", ";
  }
  return text + (topology.node_names().empty() ? "" : "],\n");
}

}  // namespace

Result<Topology> parse_topology_json(std::string_view text, const std::string& where) {
  return read_json<Topology>(
      text, where, [&](const Json& json) { return read_topology(json, where); });
}

std::string product_to_json(const Topology& topology) {
  std::string text = head_json(topology);
  text += "  \"dimensions\": [";
  const char* separator = "\n";
  for (const Dimension& dimension : topology.dimensions()) {
    const auto* const wiring =
        std::find_if(kWirings.begin(), kWirings.end(), [&](const auto& named) {
          return named.second == dimension.wiring;
        });
    fmt::format_to(std::back_inserter(text),
                   "{}    {{\"wiring\": \"{}\", \"length\": {}, \"bandwidth_Bps\": {}, "
                   "\"latency_ps\": {}{}}}",
                   separator,
                   wiring->first,
                   dimension.length,
                   dimension.bandwidth.bytes_per_second,
                   dimension.latency.ps,
                   gap_json(dimension.gap));
    separator = ",\n";
  }
  return text + "\n  ]\n}\n";
}

std::string topology_to_json(const Topology& topology) {
  // By hand, one link a line: a network is read by people and compared with diff.
  std::string text = head_json(topology);
  text += "  \"links\": [";
  const char* separator = "\n";
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Link& link = topology.link(LinkId(id));
    fmt::format_to(
        std::back_inserter(text),
        "{}    {{\"src\": {}, \"dst\": {}, \"bandwidth_Bps\": {}, \"latency_ps\": {}{}{}}}",
        separator,
        link.src.value(),
        link.dst.value(),
        link.bandwidth.bytes_per_second,
        link.latency.ps,
        gap_json(link.gap),
        topology.failed(LinkId(id)) ? ", \"failed\": true" : "");
    separator = ",\n";
  }
  return text + (topology.num_links() == 0 ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace tacos
