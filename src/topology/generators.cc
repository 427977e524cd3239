// SPDX-License-Identifier: MIT
// The table of networks by name, and what the blocks of a product stand for.
#include "topology/generators.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text/suggest.h"

namespace tacos {
namespace {

constexpr std::array kKinds{
    TopologyKind{"ring", "ring:N", "N NPUs in a ring, links both ways"},
    TopologyKind{"mesh", "mesh:AxB[xC...]", "grid without wrap-around, any number of dimensions"},
    TopologyKind{"torus", "torus:AxB[xC...]", "grid with wrap-around, any number of dimensions"},
    TopologyKind{"hypercube", "hypercube:D", "2^D NPUs, joined when one bit of the id differs"},
    TopologyKind{"fc", "fc:N", "N NPUs, a link from each to each (fully connected)"},
    TopologyKind{"switch", "switch:N", "N NPUs on one switch; bw per port, lat from NPU to NPU"},
    TopologyKind{"dragonfly",
                 "dragonfly:AxG",
                 "G fully-connected groups of A NPUs; bw and lat local/global"},
    TopologyKind{"leaf-spine",
                 "leaf-spine:NxLxS",
                 "L leaf switches of N NPUs, each joined to S spines; bw and lat NPU/spine"},
    TopologyKind{"fat-tree",
                 "fat-tree:K",
                 "K^3/4 NPUs on three levels of K-port switches; bw and lat NPU/edge/core"},
    TopologyKind{
        "rail",
        "rail:BxG",
        "B boxes of G NPUs on a switch, NPU i of every box on rail i; bw and lat box/rail"},
    TopologyKind{"tpu-v3", "tpu-v3[:AxB]", "torus 4x8 of 80 GB/s, 1 us"},
    TopologyKind{"tpu-v4", "tpu-v4[:AxBxC]", "torus 2x4x4 of 50 GB/s, 0.5 us; also 8x8x8"},
    TopologyKind{
        "hetero-mesh", "hetero-mesh[:AxB]", "mesh 8x8 of 50 GB/s, 0.2 us and 100 GB/s, 0.15 us"},
    TopologyKind{"hetero-switch",
                 "hetero-switch[:AxB]",
                 "switches 8x8 of 50 GB/s, 0.2 us and 200 GB/s, 0.05 us per port"},
    TopologyKind{"rfs", "rfs[:AxBxC]", "ring 2 (200 GB/s) x fc 4 (100) x switch 8 (50 per port)"},
    TopologyKind{"switch-2d", "switch-2d[:AxB]", "switch 8 (300 GB/s per port) x switch 4 (25)"},
    TopologyKind{"dgx1", "dgx1", "8 GPUs in a hybrid cube mesh of 25 GB/s NVLinks"},
    TopologyKind{"ndv2", "ndv2:N", "N boxes like dgx1, one 12.5 GB/s NIC each on one IB switch"},
    TopologyKind{"dgx2", "dgx2:N", "N boxes of 16 GPUs on NVSwitch (125), 8 NICs of 12.5 GB/s"},
    TopologyKind{"a100", "a100:N", "N boxes of 8 GPUs on NVSwitch (300), 25 GB/s IB per GPU"},
    TopologyKind{"h100", "h100:N", "N boxes of 8 GPUs on NVSwitch (450), 50 GB/s IB per GPU"},
    TopologyKind{"mi250", "mi250:N", "N boxes of 16 GCDs on 50 GB/s xGMI, 16 GB/s IB per GCD"},
};

/// Whether the kind can be multiplied with others.
bool is_block(std::string_view kind) {
  constexpr std::array<std::string_view, 6> kBlocks{
      "ring", "mesh", "torus", "hypercube", "fc", "switch"};
  return std::find(kBlocks.begin(), kBlocks.end(), kind) != kBlocks.end();
}

}  // namespace

std::span<const TopologyKind> topology_kinds() {
  return kKinds;
}

Result<std::vector<Dimension>> block_dimensions(std::string_view kind,
                                                const std::vector<std::uint32_t>& dims) {
  const auto product = [&](Wiring wiring) {
    std::vector<Dimension> dimensions;
    dimensions.reserve(dims.size());
    for (const std::uint32_t length : dims) {
      dimensions.push_back({.wiring = wiring, .length = length, .bandwidth = {}, .latency = {}});
    }
    return dimensions;
  };
  const auto one_number = [&]() -> Status {
    if (dims.size() != 1) {
      return input_error(fmt::format("'{}' takes one number, such as {}:8", kind, kind));
    }
    return ok();
  };
  if (kind == "mesh") {
    return product(Wiring::kLine);
  }
  if (kind == "torus") {
    return product(Wiring::kRing);
  }
  std::vector<std::string_view> names;
  for (const TopologyKind& known : kKinds) {
    names.push_back(known.name);
    if (known.name != kind) {
      continue;
    }
    if (!is_block(kind)) {
      return input_error(fmt::format("'{}' stands alone; it cannot be a block of a product", kind));
    }
    if (Status one = one_number(); !one) {
      return one.error();
    }
    if (kind == "ring") {
      return product(Wiring::kRing);
    }
    if (kind == "fc") {
      return product(Wiring::kFullyConnected);
    }
    if (kind == "switch") {
      return product(Wiring::kSwitch);
    }
    constexpr std::uint32_t kMaxCube = 24;
    if (dims[0] > kMaxCube) {
      return input_error(
          fmt::format("hypercube:{} has 2^{} NPUs; the limit is 2^{}", dims[0], dims[0], kMaxCube));
    }
    return std::vector<Dimension>(
        dims[0], {.wiring = Wiring::kRing, .length = 2, .bandwidth = {}, .latency = {}});
  }
  return input_error(unknown_name("topology kind", kind, names));
}

}  // namespace tacos
