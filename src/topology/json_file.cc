// SPDX-License-Identifier: MIT
// The project's own topology file, docs/topology-format.md.
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "tacos/topology.h"

#include "base/json_reader.h"

namespace tacos {
namespace {

Result<Link> read_link(const Json& item, const std::string& where, const std::string& path) {
  if (!item.is_object()) {
    return json_error(where, path, "must be an object with src, dst, bandwidth_Bps, latency_ps");
  }
  constexpr std::array<std::string_view, 4> kKeys{"src", "dst", "bandwidth_Bps", "latency_ps"};
  if (Status known = check_keys(item, kKeys, where, path); !known) {
    return known.error();
  }
  ObjectReader reader(item, where, path);
  constexpr std::int64_t kMaxId = (1LL << 32U) - 2;
  const Link link{.src = NodeId(static_cast<std::uint32_t>(reader.required("src", kMaxId))),
                  .dst = NodeId(static_cast<std::uint32_t>(reader.required("dst", kMaxId))),
                  .bandwidth = {reader.required("bandwidth_Bps", kMaxBytesPerSecond)},
                  .latency = {reader.optional("latency_ps", kMaxTime.ps, 0)}};
  if (reader.failure()) {
    return *reader.failure();
  }
  return link;
}

Result<Topology> read_topology(const Json& json, const std::string& where) {
  if (!json.is_object()) {
    return json_error(where, "", "must be a JSON object with 'npus' and 'links'");
  }
  constexpr std::array<std::string_view, 4> kKeys{"name", "npus", "switches", "links"};
  if (Status known = check_keys(json, kKeys, where, ""); !known) {
    return known.error();
  }
  if (json.contains("name") && !json["name"].is_string()) {
    return json_error(where, "name", "must be a string");
  }
  ObjectReader reader(json, where, "");
  const std::int64_t npus = reader.required("npus", kMaxNodes);
  const std::int64_t switches = reader.optional("switches", kMaxNodes, 0);
  if (reader.failure()) {
    return *reader.failure();
  }
  if (!json.contains("links") || !json["links"].is_array()) {
    return json_error(where, "links", "must be an array of links");
  }
  const Json& links = json["links"];
  TopologyBuilder builder(json.value("name", std::filesystem::path(where).stem().string()),
                          static_cast<std::uint32_t>(npus),
                          static_cast<std::uint32_t>(switches));
  builder.reserve_links(links.size());
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Result<Link> link = read_link(links[i], where, fmt::format("links[{}]", i));
    if (!link) {
      return link.error();
    }
    builder.add_link(*link);
  }
  Result<Topology> topology = std::move(builder).build();
  if (!topology) {
    return json_error(where, topology.error().where, topology.error().message);
  }
  return topology;
}

}  // namespace

Result<Topology> parse_topology_json(std::string_view text, const std::string& where) {
  return read_json<Topology>(
      text, where, [&](const Json& json) { return read_topology(json, where); });
}

std::string topology_to_json(const Topology& topology) {
  // By hand, one link a line: a network is read by people and compared with diff.
  std::string text =
      fmt::format("{{\n  \"name\": {},\n  \"npus\": {},\n  \"switches\": {},\n",
                  Json(topology.name()).dump(-1, ' ', false, Json::error_handler_t::replace),
                  topology.num_npus(),
                  topology.num_switches());
  text += "  \"links\": [";
  const char* separator = "\n";
  for (const Link& link : topology.links()) {
    fmt::format_to(std::back_inserter(text),
                   "{}    {{\"src\": {}, \"dst\": {}, \"bandwidth_Bps\": {}, \"latency_ps\": {}}}",
                   separator,
                   link.src.value(),
                   link.dst.value(),
                   link.bandwidth.bytes_per_second,
                   link.latency.ps);
    separator = ",\n";
  }
  return text + (topology.num_links() == 0 ? "]\n}\n" : "\n  ]\n}\n");
}

}  // namespace tacos
