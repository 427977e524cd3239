// SPDX-License-Identifier: MIT
// Spec strings: KIND:DIMS blocks joined by `*`, then `,key=value` options for the whole product.
#include "topology/spec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "tacos/topology.h"

#include "base/files/file.h"
#include "base/text/quantity.h"
#include "base/text/suggest.h"
#include "topology/generators.h"
#include "topology/kinds.h"

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

/// KIND:NUMBERS, with as many of them as the kind takes.
Result<Spec> parse_block(std::string_view text) {
  const std::size_t colon = text.find(':');
  Spec spec{.text = text, .kind = text.substr(0, colon), .numbers = {}, .options = {}};
  if (colon != std::string_view::npos) {
    for (const std::string_view number : split(text.substr(colon + 1), 'x')) {
      const Result<std::uint32_t> length = parse_length(number);
      if (!length) {
        return length.error();
      }
      spec.numbers.push_back(*length);
    }
  }
  return spec;
}

Status check_numbers(const Spec& spec, const SpecNumbers& numbers) {
  const std::size_t given = spec.numbers.size();
  if (given >= numbers.least && given <= numbers.most) {
    return ok();
  }
  if (!numbers.meaning.empty()) {
    return input_error(fmt::format("'{}' takes {}", spec.kind, numbers.meaning));
  }
  return input_error(
      given == 0 && numbers.most != 1
          ? fmt::format("'{}' needs a size, such as {}:8", spec.kind, spec.kind)
          : fmt::format("'{}' takes one number, such as {}:8", spec.kind, spec.kind));
}

/// The dimensions of a factor of a product.
Result<std::vector<Dimension>> parse_dimensions(std::string_view text) {
  const Result<Spec> spec = parse_block(text);
  if (!spec) {
    return spec.error();
  }
  const SpecKind* const kind = find_kind(spec->kind);
  if (kind == nullptr) {
    return unknown_kind(spec->kind);
  }
  if (kind->block == nullptr) {
    return input_error(
        fmt::format("'{}' stands alone; it cannot be a block of a product", spec->kind));
  }
  if (Status fits = check_numbers(*spec, kind->numbers); !fits) {
    return fits.error();
  }
  return kind->block(spec->numbers);
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
  constexpr std::array<std::string_view, 5> kKeys{"bw", "lat", "gap", "unwind", "forward"};
  if (key != "bw" && key != "lat" && key != "gap") {
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
      key, values, dimensions, parse_time, [&](Dimension& dimension, Ticks value) {
        (key == "lat" ? dimension.latency : dimension.gap) = value;
      });
}

/// Default links, then what the options after the first comma say.
Status set_links(std::span<const std::string_view> options, std::vector<Dimension>& dimensions) {
  for (Dimension& dimension : dimensions) {
    dimension.bandwidth = kDefaultBandwidth;
    dimension.latency = kDefaultLatency;
  }
  return apply_options(options, dimensions);
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

Result<Topology> parse_network(std::string_view text,
                               std::string_view head,
                               std::span<const std::string_view> options) {
  const SpecKind* const kind = find_kind(head.substr(0, head.find(':')));
  if (head.find('*') != std::string_view::npos || kind == nullptr || kind->network == nullptr) {
    const Result<std::vector<Dimension>> dimensions = parse_product(head, options);
    return dimensions ? make_product(std::string(text), *dimensions) : dimensions.error();
  }
  Result<Spec> spec = parse_block(head);
  if (!spec) {
    return spec.error();
  }
  if (Status fits = check_numbers(*spec, kind->numbers); !fits) {
    return fits.error();
  }
  spec->text = text;
  spec->options = options;
  return kind->network(*spec);
}

/// Takes an option of the whole network out of the parts of a spec; nothing when it is not there.
Result<std::optional<std::string_view>> take_option(std::string_view key,
                                                    std::vector<std::string_view>& parts) {
  std::optional<std::string_view> value;
  for (std::size_t i = 1; i < parts.size();) {
    const std::size_t equals = parts[i].find('=');
    if (parts[i].substr(0, equals) != key) {
      ++i;
      continue;
    }
    if (value) {
      return input_error(fmt::format("gives {}= twice", key));
    }
    value = parts[i].substr(std::min(equals, parts[i].size() - 1) + 1);
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return value;
}

/// Whether `forward=yes` is among the parts.
Result<bool> take_forward(std::vector<std::string_view>& parts) {
  const Result<std::optional<std::string_view>> value = take_option("forward", parts);
  if (!value) {
    return value.error();
  }
  if (*value && **value != "yes" && **value != "no") {
    return input_error(fmt::format("forward '{}' is neither yes nor no", **value));
  }
  return *value == "yes";
}

Result<Topology> parse_spec(std::string_view spec) {
  std::vector<std::string_view> parts = split(spec, ',');
  const Result<std::optional<std::string_view>> links_per_port = take_option("unwind", parts);
  if (!links_per_port) {
    return links_per_port.error();
  }
  std::optional<std::uint32_t> degree;
  if (*links_per_port) {
    const Result<std::uint32_t> parsed = parse_length(**links_per_port);
    if (!parsed) {
      return input_error(
          fmt::format("unwind '{}' is not a number of links per port; write for example unwind=2",
                      **links_per_port));
    }
    degree = *parsed;
  }
  const Result<bool> forward = take_forward(parts);
  if (!forward) {
    return forward.error();
  }
  Result<Topology> topology = parse_network(spec, parts[0], std::span(parts).subspan(1));
  if (topology && degree) {
    topology = unwind(*topology, *degree);
  }
  return topology && *forward ? topology->with_forwarding(true) : std::move(topology);
}

}  // namespace

Status apply_options(std::span<const std::string_view> options,
                     std::vector<Dimension>& dimensions) {
  std::vector<std::string_view> keys;
  for (const std::string_view option : options) {
    const std::string_view key = option.substr(0, option.find('='));
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      return input_error(fmt::format("gives {}= twice", key));
    }
    keys.push_back(key);
    if (Status applied = apply_option(option, dimensions); !applied) {
      return applied;
    }
  }
  return ok();
}

Result<std::vector<Dimension>> make_levels(std::span<const std::uint32_t> lengths,
                                           Wiring wiring,
                                           std::span<const std::string_view> options) {
  std::vector<Dimension> levels;
  for (const std::uint32_t length : lengths) {
    levels.push_back({.wiring = wiring, .length = length, .bandwidth = {}, .latency = {}});
  }
  if (Status set = set_links(options, levels); !set) {
    return set.error();
  }
  return levels;
}

Result<Topology> parse_topology_spec(std::string_view spec) {
  Result<Topology> topology = parse_spec(spec);
  if (!topology) {
    return input_error(topology.error().message, std::string(spec));
  }
  return topology;
}

std::vector<Dimension> product_dimensions(std::string_view spec) {
  std::vector<std::string_view> parts = split(spec, ',');
  if (!take_forward(parts)) {
    return {};
  }
  Result<std::vector<Dimension>> dimensions = parse_product(parts[0], std::span(parts).subspan(1));
  return dimensions ? std::move(*dimensions) : std::vector<Dimension>();
}

bool names_topology_file(const std::string& spec_or_file) {
  constexpr std::array<std::string_view, 6> kEndings{
      ".json", ".xml", ".yml", ".yaml", ".graphml", ".txt"};
  std::error_code ignored;
  return spec_or_file == "-" ||
         std::any_of(kEndings.begin(),
                     kEndings.end(),
                     [&](std::string_view ending) { return spec_or_file.ends_with(ending); }) ||
         (spec_or_file.find(':') == std::string::npos &&
          std::filesystem::exists(spec_or_file, ignored));
}

Status check_ports(const Topology& topology, const std::string& where) {
  for (std::uint32_t node = topology.num_npus(); node < topology.num_nodes(); ++node) {
    if (topology.in_links(NodeId(node)).empty() && topology.out_links(NodeId(node)).empty()) {
      return input_error(fmt::format("switch {} has no port: no link begins or ends there", node),
                         where);
    }
  }
  return ok();
}

Result<Topology> load_topology(const std::string& spec_or_file) {
  if (!names_topology_file(spec_or_file)) {
    return parse_topology_spec(spec_or_file);
  }
  const Result<std::string> text = read_text_file(spec_or_file);
  if (!text) {
    return text.error();
  }
  Result<Topology> topology = parse_topology_json(*text, spec_or_file);
  const Status ports = topology ? check_ports(*topology, spec_or_file) : ok();
  return ports ? std::move(topology) : Result<Topology>(ports.error());
}

}  // namespace tacos
