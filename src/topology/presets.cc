// SPDX-License-Identifier: MIT
// Products that papers and machines have given a name: their blocks, lengths and links as a table.
// Lengths, `bw` and `lat` can be given as for any product.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "topology/generators.h"

namespace tacos {
namespace {

constexpr std::size_t kMostDimensions = 3;

struct Preset {
  std::string_view name;
  std::size_t num_dimensions;
  std::array<Dimension, kMostDimensions> dimensions;
};

constexpr Dimension dimension(Wiring wiring,
                              std::uint32_t length,
                              std::int64_t gigabytes_per_second,
                              std::int64_t nanoseconds) {
  return {.wiring = wiring,
          .length = length,
          .bandwidth = {gigabytes_per_second * 1'000'000'000},
          .latency = {nanoseconds * 1'000}};
}

constexpr std::array kPresets{
    Preset{"tpu-v3",
           2,
           {dimension(Wiring::kRing, 4, 80, 1'000), dimension(Wiring::kRing, 8, 80, 1'000)}},
    Preset{"tpu-v4",
           3,
           {dimension(Wiring::kRing, 2, 50, 500),
            dimension(Wiring::kRing, 4, 50, 500),
            dimension(Wiring::kRing, 4, 50, 500)}},
    Preset{"hetero-mesh",
           2,
           {dimension(Wiring::kLine, 8, 50, 200), dimension(Wiring::kLine, 8, 100, 150)}},
    Preset{"hetero-switch",
           2,
           {dimension(Wiring::kSwitch, 8, 50, 200), dimension(Wiring::kSwitch, 8, 200, 50)}},
    Preset{"rfs",
           3,
           {dimension(Wiring::kRing, 2, 200, 500),
            dimension(Wiring::kFullyConnected, 4, 100, 500),
            dimension(Wiring::kSwitch, 8, 50, 500)}},
    Preset{"switch-2d",
           2,
           {dimension(Wiring::kSwitch, 8, 300, 500), dimension(Wiring::kSwitch, 4, 25, 500)}},
};

}  // namespace

Result<std::vector<Dimension>> preset_dimensions(std::string_view kind,
                                                 const std::vector<std::uint32_t>& dims) {
  const Preset& preset = *std::find_if(
      kPresets.begin(), kPresets.end(), [&](const Preset& known) { return known.name == kind; });
  std::vector<Dimension> dimensions(
      preset.dimensions.begin(),
      preset.dimensions.begin() + static_cast<std::ptrdiff_t>(preset.num_dimensions));
  if (dims.empty()) {
    return dimensions;
  }
  if (dims.size() != dimensions.size()) {
    std::string lengths;
    for (const Dimension& known : dimensions) {
      lengths += fmt::format("{}{}", lengths.empty() ? "" : "x", known.length);
    }
    return input_error(fmt::format(
        "'{}' takes {} lengths, such as {}:{}, or none", kind, dimensions.size(), kind, lengths));
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    dimensions[i].length = dims[i];
  }
  return dimensions;
}

}  // namespace tacos
