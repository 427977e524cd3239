// SPDX-License-Identifier: MIT
// Spec strings: KIND:DIMS blocks joined by `*`, then `,key=value` options for the whole product.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/file.h"
#include "base/quantity.h"
#include "base/suggest.h"
#include "tacos/topology.h"
#include "topology/generators.h"

namespace tacos {
namespace {

// The paper's link.
constexpr Bandwidth kDefaultBandwidth{50'000'000'000};
constexpr Ticks kDefaultLatency{500'000};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

Result<std::uint32_t> parse_length(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure == std::errc::invalid_argument || end != text.data() + text.size()) {
    return input_error(fmt::format("'{}' is not a number; write dimensions as 8x8", text));
  }
  if (failure == std::errc::result_out_of_range || value > kMaxLength) {
    return input_error(
        fmt::format("a dimension of {} is more than the {} supported", text, kMaxLength));
  }
  if (value == 0) {
    return input_error("a dimension of 0 holds no NPU; use 1 or more");
  }
  return static_cast<std::uint32_t>(value);
}

Result<std::vector<Dimension>> parse_block(std::string_view block) {
  const std::size_t colon = block.find(':');
  const std::string_view kind = block.substr(0, colon);
  std::vector<std::uint32_t> dims;
  if (colon != std::string_view::npos) {
    for (const std::string_view text : split(block.substr(colon + 1), 'x')) {
      const Result<std::uint32_t> length = parse_length(text);
      if (!length) {
        return length.error();
      }
      dims.push_back(*length);
    }
  }
  Result<std::vector<Dimension>> dimensions = block_dimensions(kind, dims);
  if (dimensions && dims.empty()) {
    return input_error(fmt::format("'{}' needs a size, such as {}:8", kind, kind));
  }
  return dimensions;
}

/// One value for all dimensions, or one for each joined by `/`.
template <class Value, class Parse, class Assign>
Status set_option(std::string_view key,
                  std::string_view values,
                  std::vector<Dimension>& dimensions,
                  Parse parse,
                  Assign assign) {
  const std::vector<std::string_view> parts = split(values, '/');
  if (parts.size() != 1 && parts.size() != dimensions.size()) {
    return input_error(fmt::format("{} has {} values for {} dimensions; give one, or one for each",
                                   key,
                                   parts.size(),
                                   dimensions.size()));
  }
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const Result<Value> value = parse(parts[parts.size() == 1 ? 0 : i]);
    if (!value) {
      return value.error();
    }
    assign(dimensions[i], *value);
  }
  return ok();
}

Status apply_option(std::string_view option, std::vector<Dimension>& dimensions) {
  const std::size_t equals = option.find('=');
  const std::string_view key = option.substr(0, equals);
  constexpr std::array<std::string_view, 2> kKeys{"bw", "lat"};
  if (key != kKeys[0] && key != kKeys[1]) {
    return input_error(unknown_name("topology key", key, kKeys));
  }
  if (equals == std::string_view::npos) {
    return input_error(fmt::format("'{}' has no value; write {}=...", key, key));
  }
  const std::string_view values = option.substr(equals + 1);
  if (values.find('*') != std::string_view::npos) {
    return input_error("options come after the last block, and apply to every dimension in turn");
  }
  if (key == "bw") {
    return set_option<Bandwidth>(
        key, values, dimensions, parse_bandwidth, [](Dimension& dimension, Bandwidth value) {
          dimension.bandwidth = value;
        });
  }
  return set_option<Ticks>(key, values, dimensions, parse_time, [](Dimension& dimension, Ticks value) {
    dimension.latency = value;
  });
}

Result<Topology> parse_product(std::string_view spec) {
  const std::vector<std::string_view> parts = split(spec, ',');
  std::vector<Dimension> dimensions;
  for (const std::string_view block : split(parts[0], '*')) {
    const Result<std::vector<Dimension>> parsed = parse_block(block);
    if (!parsed) {
      return parsed.error();
    }
    dimensions.insert(dimensions.end(), parsed->begin(), parsed->end());
  }
  for (Dimension& dimension : dimensions) {
    dimension.bandwidth = kDefaultBandwidth;
    dimension.latency = kDefaultLatency;
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (Status applied = apply_option(parts[i], dimensions); !applied) {
      return applied.error();
    }
  }
  return make_product(std::string(spec), dimensions);
}

}  // namespace

Result<Topology> parse_topology_spec(std::string_view spec) {
  Result<Topology> topology = parse_product(spec);
  if (!topology) {
    Error error = topology.error();
    error.where = spec;
    return error;
  }
  return topology;
}

Result<Topology> load_topology(const std::string& spec_or_file) {
  std::error_code ignored;
  const bool names_file = spec_or_file == "-" || spec_or_file.ends_with(".json") ||
                          (spec_or_file.find(':') == std::string::npos &&
                           std::filesystem::exists(spec_or_file, ignored));
  if (!names_file) {
    return parse_topology_spec(spec_or_file);
  }
  const Result<std::string> text = read_text_file(spec_or_file);
  if (!text) {
    return text.error();
  }
  return parse_topology_json(*text, spec_or_file);
}

}  // namespace tacos
