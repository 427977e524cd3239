// SPDX-License-Identifier: MIT
// The project's own topology file, docs/topology-format.md.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tacos/topology.h"

#include "base/suggest.h"

namespace tacos {
namespace {

using Json = nlohmann::json;

Error json_error(const std::string& where, const std::string& path, const std::string& message) {
  return input_error(path.empty() ? message : path + ": " + message, where);
}

/// A JSON number that must be whole and within limits; 1e9 is as good as 1000000000.
Result<std::int64_t> whole_number(const Json& value,
                                  const std::string& where,
                                  const std::string& path,
                                  std::int64_t largest) {
  if (!value.is_number()) {
    return json_error(where, path, fmt::format("must be a number, not {}", value.type_name()));
  }
  const auto approximate = value.get<double>();
  if (!(approximate >= 0)) {
    return json_error(where, path, fmt::format("{} is negative", value.dump()));
  }
  if (!(approximate <= static_cast<double>(largest))) {
    return json_error(where, path, fmt::format("{} is too large", value.dump()));
  }
  if (value.is_number_float() && std::nearbyint(approximate) != approximate) {
    return json_error(where, path, fmt::format("{} is not a whole number", value.dump()));
  }
  return value.get<std::int64_t>();
}

Status check_keys(const Json& object,
                  std::span<const std::string_view> known,
                  const std::string& where,
                  const std::string& path) {
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return json_error(where, path, unknown_name("key", key, known));
    }
  }
  return ok();
}

/// Reads members of one JSON object and remembers the first failure.
class ObjectReader {
 public:
  ObjectReader(const Json& object, const std::string& where, std::string path)
      : object_(object), where_(where), path_(std::move(path)) {}

  std::int64_t required(const char* key, std::int64_t largest) {
    if (!failure_ && !object_.contains(key)) {
      failure_ = json_error(where_, path_, fmt::format("'{}' is missing", key));
    }
    return optional(key, largest, 0);
  }
  std::int64_t optional(const char* key, std::int64_t largest, std::int64_t otherwise) {
    if (failure_ || !object_.contains(key)) {
      return otherwise;
    }
    const std::string path = path_.empty() ? key : fmt::format("{}.{}", path_, key);
    const Result<std::int64_t> value = whole_number(object_[key], where_, path, largest);
    if (!value) {
      failure_ = value.error();
      return otherwise;
    }
    return *value;
  }
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }

 private:
  const Json& object_;
  const std::string& where_;
  std::string path_;
  std::optional<Error> failure_;
};

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
  try {
    return read_topology(Json::parse(text), where);
  } catch (const Json::parse_error& error) {
    // nlohmann counts bytes from one and stops just behind the trouble.
    const std::string_view before = text.substr(0, error.byte == 0 ? 0 : error.byte - 1);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    return input_error("is not valid JSON here", fmt::format("{}:{}:{}", where, line, column));
  } catch (const Json::exception& error) {
    return input_error(fmt::format("cannot be used: {}", error.what()), where);
  }
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
