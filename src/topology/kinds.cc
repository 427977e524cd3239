// SPDX-License-Identifier: MIT
#include "topology/kinds.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/text/suggest.h"
#include "topology/generators.h"

namespace tacos {
namespace {

using Numbers = std::vector<std::uint32_t>;
using Dimensions = std::vector<Dimension>;

Dimensions of_wiring(Wiring wiring, const Numbers& lengths) {
  Dimensions dimensions;
  dimensions.reserve(lengths.size());
  for (const std::uint32_t length : lengths) {
    dimensions.push_back({.wiring = wiring, .length = length, .bandwidth = {}, .latency = {}});
  }
  return dimensions;
}

Result<Dimensions> ring(const Numbers& numbers) {
  return of_wiring(Wiring::kRing, numbers);
}

Result<Dimensions> mesh(const Numbers& numbers) {
  return of_wiring(Wiring::kLine, numbers);
}

Result<Dimensions> torus(const Numbers& numbers) {
  return of_wiring(Wiring::kRing, numbers);
}

Result<Dimensions> fully_connected(const Numbers& numbers) {
  return of_wiring(Wiring::kFullyConnected, numbers);
}

Result<Dimensions> one_switch(const Numbers& numbers) {
  return of_wiring(Wiring::kSwitch, numbers);
}

Result<Dimensions> hypercube(const Numbers& numbers) {
  constexpr std::uint32_t kMaxCube = 24;
  if (numbers[0] > kMaxCube) {
    return input_error(fmt::format(
        "hypercube:{} has 2^{} NPUs; the limit is 2^{}", numbers[0], numbers[0], kMaxCube));
  }
  return of_wiring(Wiring::kRing, Numbers(numbers[0], 2));
}

Result<Topology> dragonfly(const Spec& spec) {
  const auto levels = make_levels(spec.numbers, Wiring::kFullyConnected, spec.options);
  return levels ? make_dragonfly(std::string(spec.text), (*levels)[0], (*levels)[1])
                : Result<Topology>(levels.error());
}

Result<Topology> leaf_spine(const Spec& spec) {
  const auto levels = make_levels(std::span(spec.numbers).first(2), Wiring::kSwitch, spec.options);
  return levels ? make_leaf_spine(std::string(spec.text), spec.numbers[2], *levels)
                : Result<Topology>(levels.error());
}

Result<Topology> fat_tree(const Spec& spec) {
  constexpr std::array<std::uint32_t, 3> kLevels{1, 1, 1};
  const auto levels = make_levels(kLevels, Wiring::kSwitch, spec.options);
  return levels ? make_fat_tree(std::string(spec.text), spec.numbers[0], *levels)
                : Result<Topology>(levels.error());
}

/// A product of two switches; the rails of a single box would join nobody.
Result<Topology> rail(const Spec& spec) {
  const std::array<std::uint32_t, 2> lengths{spec.numbers[1], spec.numbers[0]};
  auto levels = make_levels(lengths, Wiring::kSwitch, spec.options);
  if (!levels) {
    return levels.error();
  }
  if (lengths[1] == 1) {
    levels->pop_back();
  }
  return make_product(std::string(spec.text), *levels);
}

Result<Topology> machine(const Spec& spec) {
  if (!spec.options.empty()) {
    return input_error(fmt::format(
        "'{}' is a machine with links of its own and takes no options but unwind and forward; for "
        "other links, edit what 'topology show --json' prints",
        spec.kind));
  }
  return make_machine(std::string(spec.text), spec.kind, spec.numbers);
}

Result<Topology> preset(const Spec& spec) {
  Result<std::vector<Dimension>> dimensions = preset_dimensions(spec.kind, spec.numbers);
  if (!dimensions) {
    return dimensions.error();
  }
  if (Status set = apply_options(spec.options, *dimensions); !set) {
    return set.error();
  }
  return make_product(std::string(spec.text), *dimensions);
}

constexpr std::array kKinds{
    SpecKind{{"ring", "ring:N", "N NPUs in a ring, links both ways"}, {1, 1, ""}, ring, nullptr},
    SpecKind{{"mesh", "mesh:AxB[xC...]", "grid without wrap-around, any number of dimensions"},
             {1, kAnyNumber, ""},
             mesh,
             nullptr},
    SpecKind{{"torus", "torus:AxB[xC...]", "grid with wrap-around, any number of dimensions"},
             {1, kAnyNumber, ""},
             torus,
             nullptr},
    SpecKind{{"hypercube", "hypercube:D", "2^D NPUs, joined when one bit of the id differs"},
             {1, 1, ""},
             hypercube,
             nullptr},
    SpecKind{{"fc", "fc:N", "N NPUs, a link from each to each (fully connected)"},
             {1, 1, ""},
             fully_connected,
             nullptr},
    SpecKind{{"switch", "switch:N", "N NPUs on one switch; bw per port, lat from NPU to NPU"},
             {1, 1, ""},
             one_switch,
             nullptr},
    SpecKind{{"dragonfly",
              "dragonfly:AxG",
              "G fully-connected groups of A NPUs; bw and lat local/global"},
             {2, 2, "NPUs per group and groups, such as dragonfly:4x5"},
             nullptr,
             dragonfly},
    SpecKind{{"leaf-spine",
              "leaf-spine:NxLxS",
              "L leaf switches of N NPUs, each joined to S spines; bw and lat NPU/spine"},
             {3, 3, "NPUs per leaf, leaves and spines, such as leaf-spine:8x4x4"},
             nullptr,
             leaf_spine},
    SpecKind{{"fat-tree",
              "fat-tree:K",
              "K^3/4 NPUs on three levels of K-port switches; bw and lat NPU/edge/core"},
             {1, 1, "the ports of a switch, such as fat-tree:4"},
             nullptr,
             fat_tree},
    SpecKind{{"rail",
              "rail:BxG",
              "B boxes of G NPUs on a switch, NPU i of every box on rail i; bw and lat box/rail"},
             {2, 2, "boxes and NPUs per box, such as rail:4x8"},
             nullptr,
             rail},
    SpecKind{{"tpu-v3", "tpu-v3[:AxB]", "torus 4x8 of 80 GB/s, 1 us"},
             {0, kAnyNumber, ""},
             nullptr,
             preset},
    SpecKind{{"tpu-v4", "tpu-v4[:AxBxC]", "torus 2x4x4 of 50 GB/s, 0.5 us; also 8x8x8"},
             {0, kAnyNumber, ""},
             nullptr,
             preset},
    SpecKind{
        {"hetero-mesh", "hetero-mesh[:AxB]", "mesh 8x8 of 50 GB/s, 0.2 us and 100 GB/s, 0.15 us"},
        {0, kAnyNumber, ""},
        nullptr,
        preset},
    SpecKind{{"hetero-switch",
              "hetero-switch[:AxB]",
              "switches 8x8 of 50 GB/s, 0.2 us and 200 GB/s, 0.05 us per port"},
             {0, kAnyNumber, ""},
             nullptr,
             preset},
    SpecKind{{"rfs", "rfs[:AxBxC]", "ring 2 (200 GB/s) x fc 4 (100) x switch 8 (50 per port)"},
             {0, kAnyNumber, ""},
             nullptr,
             preset},
    SpecKind{{"switch-2d", "switch-2d[:AxB]", "switch 8 (300 GB/s per port) x switch 4 (25)"},
             {0, kAnyNumber, ""},
             nullptr,
             preset},
    SpecKind{{"dgx1", "dgx1", "8 GPUs in a hybrid cube mesh of 25 GB/s NVLinks"},
             {0, kAnyNumber, ""},
             nullptr,
             machine},
    SpecKind{{"ndv2", "ndv2:N", "N boxes like dgx1, one 12.5 GB/s NIC each on one IB switch"},
             {0, kAnyNumber, ""},
             nullptr,
             machine},
    SpecKind{{"dgx2", "dgx2:N", "N boxes of 16 GPUs on NVSwitch (125), 8 NICs of 12.5 GB/s"},
             {0, kAnyNumber, ""},
             nullptr,
             machine},
    SpecKind{{"a100", "a100:N", "N boxes of 8 GPUs on NVSwitch (300), 25 GB/s IB per GPU"},
             {0, kAnyNumber, ""},
             nullptr,
             machine},
    SpecKind{{"h100", "h100:N", "N boxes of 8 GPUs on NVSwitch (450), 50 GB/s IB per GPU"},
             {0, kAnyNumber, ""},
             nullptr,
             machine},
    SpecKind{{"mi250", "mi250:N", "N boxes of 16 GCDs on 50 GB/s xGMI, 16 GB/s IB per GCD"},
             {0, kAnyNumber, ""},
             nullptr,
             machine},
};

constexpr auto kShown = [] {
  std::array<TopologyKind, kKinds.size()> shown;
  std::transform(
      kKinds.begin(), kKinds.end(), shown.begin(), [](const SpecKind& kind) { return kind.shown; });
  return shown;
}();

}  // namespace

std::span<const TopologyKind> topology_kinds() {
  return kShown;
}

const SpecKind* find_kind(std::string_view name) {
  const auto* const found = std::find_if(
      kKinds.begin(), kKinds.end(), [&](const SpecKind& kind) { return kind.shown.name == name; });
  return found == kKinds.end() ? nullptr : found;
}

Error unknown_kind(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(kShown.size());
  for (const TopologyKind& kind : kShown) {
    names.push_back(kind.name);
  }
  return input_error(unknown_name("topology kind", name, names));
}

}  // namespace tacos
