// SPDX-License-Identifier: MIT
// Spec strings: KIND:DIMS blocks joined by `*`, then `,key=value` options for the whole product.
#include <array>
#include <charconv>
#include <filesystem>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "tacos/topology.h"

#include "base/file.h"
#include "base/quantity.h"
#include "base/suggest.h"
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

/// One KIND:DIMS.
struct Block {
  std::string_view kind;
  std::vector<std::uint32_t> dims;
};

Result<Block> parse_block(std::string_view text) {
  const std::size_t colon = text.find(':');
  Block block{.kind = text.substr(0, colon), .dims = {}};
  if (colon != std::string_view::npos) {
    for (const std::string_view number : split(text.substr(colon + 1), 'x')) {
      const Result<std::uint32_t> length = parse_length(number);
      if (!length) {
        return length.error();
      }
      block.dims.push_back(*length);
    }
  }
  return block;
}

Result<std::vector<Dimension>> parse_dimensions(std::string_view text) {
  const Result<Block> block = parse_block(text);
  if (!block) {
    return block.error();
  }
  Result<std::vector<Dimension>> dimensions = block_dimensions(block->kind, block->dims);
  if (dimensions && block->dims.empty()) {
    return input_error(fmt::format("'{}' needs a size, such as {}:8", block->kind, block->kind));
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
  return set_option<Ticks>(
      key, values, dimensions, parse_time, [](Dimension& dimension, Ticks value) {
        dimension.latency = value;
      });
}

/// Default links, then what the options after the first comma say.
Status set_links(std::span<const std::string_view> options, std::vector<Dimension>& dimensions) {
  for (Dimension& dimension : dimensions) {
    dimension.bandwidth = kDefaultBandwidth;
    dimension.latency = kDefaultLatency;
  }
  for (const std::string_view option : options) {
    if (Status applied = apply_option(option, dimensions); !applied) {
      return applied;
    }
  }
  return ok();
}

Result<Topology> parse_dragonfly(std::string_view spec,
                                 const Block& block,
                                 std::span<const std::string_view> options) {
  if (block.dims.size() != 2) {
    return input_error("'dragonfly' takes NPUs per group and groups, such as dragonfly:4x5");
  }
  std::vector<Dimension> levels(2);
  levels[0].length = block.dims[0];
  levels[1].length = block.dims[1];
  if (Status set = set_links(options, levels); !set) {
    return set.error();
  }
  return make_dragonfly(std::string(spec), levels[0], levels[1]);
}

Result<Topology> parse_machine(std::string_view spec,
                               const Block& block,
                               std::span<const std::string_view> options) {
  if (!options.empty()) {
    return input_error(fmt::format(
        "'{}' is a machine with links of its own and takes no options; for other links, edit "
        "what 'topology show --json' prints",
        block.kind));
  }
  return make_machine(std::string(spec), block.kind, block.dims);
}

/// Blocks joined by `*`, then options.
Result<std::vector<Dimension>> parse_product(std::string_view blocks,
                                             std::span<const std::string_view> options) {
  std::vector<Dimension> dimensions;
  for (const std::string_view block : split(blocks, '*')) {
    const Result<std::vector<Dimension>> parsed = parse_dimensions(block);
    if (!parsed) {
      return parsed.error();
    }
    dimensions.insert(dimensions.end(), parsed->begin(), parsed->end());
  }
  if (Status set = set_links(options, dimensions); !set) {
    return set.error();
  }
  return dimensions;
}

Result<Topology> parse_spec(std::string_view spec) {
  const std::vector<std::string_view> parts = split(spec, ',');
  const std::span<const std::string_view> options = std::span(parts).subspan(1);
  if (parts[0].find('*') == std::string_view::npos) {
    const std::string_view kind = parts[0].substr(0, parts[0].find(':'));
    if (kind == "dragonfly" || is_machine(kind)) {
      const Result<Block> block = parse_block(parts[0]);
      if (!block) {
        return block.error();
      }
      return kind == "dragonfly" ? parse_dragonfly(spec, *block, options)
                                 : parse_machine(spec, *block, options);
    }
  }
  const Result<std::vector<Dimension>> dimensions = parse_product(parts[0], options);
  return dimensions ? make_product(std::string(spec), *dimensions) : dimensions.error();
}

}  // namespace

Result<Topology> parse_topology_spec(std::string_view spec) {
  Result<Topology> topology = parse_spec(spec);
  if (!topology) {
    return input_error(topology.error().message, std::string(spec));
  }
  return topology;
}

std::vector<Dimension> product_dimensions(std::string_view spec) {
  const std::vector<std::string_view> parts = split(spec, ',');
  Result<std::vector<Dimension>> dimensions = parse_product(parts[0], std::span(parts).subspan(1));
  return dimensions ? std::move(*dimensions) : std::vector<Dimension>();
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
