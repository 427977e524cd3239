// SPDX-License-Identifier: MIT
// ASTRA-sim's network yml, as its analytical backends read it: one entry per dimension.
//
// Its GB is 2^30 bytes. Its latency is per link, so through a switch it counts twice; ours of a
// switch is from NPU to NPU.
#include <array>

#include <fmt/format.h>

#include "base/text/quantity.h"
#include "base/text/suggest.h"
#include "import/formats.h"
#include "import/text/fields.h"
#include "import/text/yaml.h"
#include "topology/generators.h"

namespace tacos::importing {
namespace {

/// One value per dimension; a single one may stand without brackets.
Result<std::vector<Json>> values_of(const Json& file, const char* key, const std::string& where) {
  if (!file.contains(key)) {
    return json_error(where, key, "is missing");
  }
  const Json& value = file[key];
  if (!value.is_array()) {
    return std::vector<Json>{value};
  }
  return std::vector<Json>(value.begin(), value.end());
}

std::string number_text(const Json& value) {
  return value.is_number_integer() ? value.dump()
         : value.is_number()       ? fmt::format("{}", value.get<double>())
                                   : std::string("?");
}

Result<Wiring> wiring_of(const Json& value, const std::string& where, const std::string& path) {
  constexpr std::array<std::string_view, 3> kNames{"Ring", "FullyConnected", "Switch"};
  constexpr std::array kWirings{Wiring::kRing, Wiring::kFullyConnected, Wiring::kSwitch};
  const std::string name = value.is_string() ? value.get<std::string>() : value.dump();
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (lower(name) == lower(kNames[i])) {
      return kWirings[i];
    }
  }
  return json_error(where, path, unknown_name("topology", name, kNames));
}

constexpr std::array kKeys{"topology", "npus_count", "bandwidth", "latency"};
/// By key, one value per dimension.
using Columns = std::array<std::vector<Json>, kKeys.size()>;

Result<Columns> read_columns(const Json& file, const std::string& where) {
  Columns columns;
  for (std::size_t i = 0; i < kKeys.size(); ++i) {
    Result<std::vector<Json>> values = values_of(file, kKeys[i], where);
    if (!values) {
      return values.error();
    }
    columns[i] = *std::move(values);
    if (columns[i].size() != columns[0].size()) {
      return json_error(
          where,
          kKeys[i],
          fmt::format("has {} entries for {} dimensions", columns[i].size(), columns[0].size()));
    }
  }
  return columns;
}

Result<Dimension> read_dimension(const Columns& columns, std::size_t i, const std::string& where) {
  const auto path = [i](const char* key) { return fmt::format("{}[{}]", key, i); };
  const Result<Wiring> wiring = wiring_of(columns[0][i], where, path(kKeys[0]));
  if (!wiring) {
    return wiring.error();
  }
  const Result<std::uint64_t> length =
      whole_number(columns[1][i], where, path(kKeys[1]), kMaxLength);
  if (!length || *length == 0) {
    return length ? json_error(where, path(kKeys[1]), "makes no NPU") : length.error();
  }
  const Result<Bandwidth> bandwidth = parse_bandwidth(number_text(columns[2][i]) + "GiBps");
  if (!bandwidth) {
    return json_error(where, path(kKeys[2]), bandwidth.error().message);
  }
  const Result<Ticks> latency = parse_time(number_text(columns[3][i]) + "ns");
  if (!latency) {
    return json_error(where, path(kKeys[3]), latency.error().message);
  }
  return Dimension{.wiring = *wiring,
                   .length = static_cast<std::uint32_t>(*length),
                   .bandwidth = *bandwidth,
                   .latency = *latency * (*wiring == Wiring::kSwitch ? 2 : 1)};
}

}  // namespace

Result<Topology> read_astra_sim(const Source& source) {
  const std::string& where = source.where();
  const Result<Json> file = parse_yaml(source.text(), where);
  if (!file) {
    return file.error();
  }
  if (!file->is_object()) {
    return json_error(where, "", "must have the keys topology, npus_count, bandwidth, latency");
  }
  const Result<Columns> columns = read_columns(*file, where);
  if (!columns) {
    return columns.error();
  }
  std::vector<Dimension> dimensions;
  for (std::size_t i = 0; i < columns->front().size(); ++i) {
    const Result<Dimension> dimension = read_dimension(*columns, i, where);
    if (!dimension) {
      return dimension.error();
    }
    dimensions.push_back(*dimension);
  }
  Result<Topology> topology = make_product(source.name(), dimensions);
  return topology ? std::move(topology)
                  : Result<Topology>(input_error(topology.error().message, where));
}

}  // namespace tacos::importing
