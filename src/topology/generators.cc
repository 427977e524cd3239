// SPDX-License-Identifier: MIT
// Every built-in network is a product of one-dimensional blocks: in each dimension, the NPUs that
// agree in all other coordinates form a line, a ring or a clique. Links come NPU by NPU, dimension
// by dimension, so that the out-links of an NPU have consecutive ids. O(nodes + links).
#include "topology/generators.h"

#include <fmt/format.h>

#include <array>

#include "base/quantity.h"
#include "base/suggest.h"

namespace tacos {
namespace {

constexpr std::array kKinds{
    TopologyKind{"ring", "ring:N", "N NPUs in a ring, links both ways"},
    TopologyKind{"mesh", "mesh:AxB[xC...]", "grid without wrap-around, any number of dimensions"},
    TopologyKind{"torus", "torus:AxB[xC...]", "grid with wrap-around, any number of dimensions"},
    TopologyKind{"hypercube", "hypercube:D", "2^D NPUs, joined when one bit of the id differs"},
    TopologyKind{"fc", "fc:N", "N NPUs, a link from each to each (fully connected)"},
};

std::uint64_t links_per_line(const Dimension& dimension) {
  const std::uint64_t n = dimension.length;
  switch (dimension.wiring) {
    case Wiring::kLine:
      return 2 * (n - 1);
    case Wiring::kRing:
      return n == 1 ? 0 : n == 2 ? 2 : 2 * n;
    case Wiring::kFullyConnected:
      return n * (n - 1);
  }
  return 0;
}

/// Coordinates that the NPU at `x` of a line has links to, into `to`.
void neighbours(const Dimension& dimension, std::uint32_t x, std::vector<std::uint32_t>& to) {
  const std::uint32_t n = dimension.length;
  to.clear();
  if (dimension.wiring == Wiring::kFullyConnected) {
    for (std::uint32_t other = 1; other < n; ++other) {
      to.push_back((x + other) % n);
    }
    return;
  }
  // In a ring of two, left and right are the same NPU: one link, not two.
  const bool wraps = dimension.wiring == Wiring::kRing && n > 2;
  if (x + 1 < n || wraps) {
    to.push_back((x + 1) % n);
  }
  if (x > 0 || wraps) {
    to.push_back((x + n - 1) % n);
  }
}

}  // namespace

std::span<const TopologyKind> topology_kinds() { return kKinds; }

Result<std::vector<Dimension>> block_dimensions(std::string_view kind,
                                                const std::vector<std::uint32_t>& dims) {
  const auto product = [&](Wiring wiring) {
    std::vector<Dimension> dimensions;
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
    if (Status one = one_number(); !one) {
      return one.error();
    }
    if (kind == "ring") {
      return product(Wiring::kRing);
    }
    if (kind == "fc") {
      return product(Wiring::kFullyConnected);
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

Result<Topology> make_product(std::string name, const std::vector<Dimension>& dimensions) {
  std::uint64_t npus = 1;
  for (const Dimension& dimension : dimensions) {
    npus *= dimension.length;
    if (npus > kMaxNodes) {
      return input_error(fmt::format("has more NPUs than the {} supported", format_count(kMaxNodes)),
                         name);
    }
  }
  std::uint64_t links = 0;
  for (const Dimension& dimension : dimensions) {
    links += npus / dimension.length * links_per_line(dimension);
  }
  if (links > kMaxLinks) {
    return input_error(fmt::format("has {} links, more than the {} supported",
                                   format_count(links),
                                   format_count(kMaxLinks)),
                       name);
  }
  TopologyBuilder builder(std::move(name), static_cast<std::uint32_t>(npus));
  builder.reserve_links(links);
  std::vector<std::uint32_t> to;
  for (std::uint32_t npu = 0; npu < npus; ++npu) {
    std::uint32_t stride = 1;
    for (const Dimension& dimension : dimensions) {
      const std::uint32_t x = npu / stride % dimension.length;
      neighbours(dimension, x, to);
      for (const std::uint32_t other : to) {
        builder.add_link({.src = NodeId(npu),
                          .dst = NodeId(npu - x * stride + other * stride),
                          .bandwidth = dimension.bandwidth,
                          .latency = dimension.latency});
      }
      stride *= dimension.length;
    }
  }
  return std::move(builder).build();
}

}  // namespace tacos
