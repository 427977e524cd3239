// SPDX-License-Identifier: MIT
// Most built-in networks are products of one-dimensional blocks: in each dimension, the NPUs that
// agree in all other coordinates form a line, a ring, a clique, or hang on one switch. Links come
// NPU by NPU, dimension by dimension, so that the out-links of an NPU have consecutive ids; the
// links out of the switches follow, switch by switch. O(nodes + links).
#include <fmt/format.h>

#include "base/quantity.h"
#include "topology/generators.h"

namespace tacos {
namespace {

std::uint64_t links_per_line(const Dimension& dimension) {
  const std::uint64_t n = dimension.length;
  switch (dimension.wiring) {
    case Wiring::kLine:
      return 2 * (n - 1);
    case Wiring::kRing:
      return n == 1 ? 0 : n == 2 ? 2 : 2 * n;
    case Wiring::kFullyConnected:
      return n * (n - 1);
    case Wiring::kSwitch:
      return 2 * n;
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

/// Where the coordinates of one dimension sit in the ids.
struct Axis {
  const Dimension& dimension;
  /// Distance between ids of neighbours in this dimension.
  std::uint32_t stride;
  /// Id of the switch of the first line, where the dimension has switches.
  std::uint32_t first_switch;

  [[nodiscard]] std::uint32_t coordinate(std::uint32_t npu) const {
    return npu / stride % dimension.length;
  }
  /// Lines are numbered by their smallest NPU.
  [[nodiscard]] std::uint32_t line(std::uint32_t npu) const {
    return npu / (stride * dimension.length) * stride + npu % stride;
  }
  [[nodiscard]] std::uint32_t first_npu(std::uint32_t line) const {
    return line / stride * stride * dimension.length + line % stride;
  }
};

void add_npu_links(const Axis& axis,
                   std::uint32_t npu,
                   std::vector<std::uint32_t>& to,
                   TopologyBuilder& builder) {
  const Dimension& dimension = axis.dimension;
  Link link{.src = NodeId(npu),
            .dst = {},
            .bandwidth = dimension.bandwidth,
            .latency = dimension.latency};
  if (dimension.wiring == Wiring::kSwitch) {
    // An odd picosecond goes to the way up, so that up and down add to the whole.
    link.latency.ps -= dimension.latency.ps / 2;
    link.dst = NodeId(axis.first_switch + axis.line(npu));
    builder.add_link(link);
    return;
  }
  const std::uint32_t x = axis.coordinate(npu);
  neighbours(dimension, x, to);
  for (const std::uint32_t other : to) {
    link.dst = NodeId(npu - x * axis.stride + other * axis.stride);
    builder.add_link(link);
  }
}

void add_switch_links(const Axis& axis, std::uint32_t num_npus, TopologyBuilder& builder) {
  const Dimension& dimension = axis.dimension;
  const std::uint32_t num_lines = num_npus / dimension.length;
  for (std::uint32_t line = 0; line < num_lines; ++line) {
    for (std::uint32_t port = 0; port < dimension.length; ++port) {
      builder.add_link({.src = NodeId(axis.first_switch + line),
                        .dst = NodeId(axis.first_npu(line) + port * axis.stride),
                        .bandwidth = dimension.bandwidth,
                        .latency = {dimension.latency.ps / 2}});
    }
  }
}

}  // namespace

Result<Topology> make_product(std::string name, const std::vector<Dimension>& dimensions) {
  std::uint64_t npus = 1;
  for (const Dimension& dimension : dimensions) {
    npus *= dimension.length;
    if (npus > kMaxNodes) {
      return input_error(
          fmt::format("has more NPUs than the {} supported", format_count(kMaxNodes)), name);
    }
  }
  std::uint64_t links = 0;
  std::uint64_t nodes = npus;
  std::uint32_t stride = 1;
  std::vector<Axis> axes;
  for (const Dimension& dimension : dimensions) {
    const std::uint64_t lines = npus / dimension.length;
    links += lines * links_per_line(dimension);
    axes.push_back({dimension, stride, static_cast<std::uint32_t>(nodes)});
    nodes += dimension.wiring == Wiring::kSwitch ? lines : 0;
    stride *= dimension.length;
  }
  if (links > kMaxLinks) {
    return input_error(fmt::format("has {} links, more than the {} supported",
                                   format_count(links),
                                   format_count(kMaxLinks)),
                       name);
  }
  const auto num_npus = static_cast<std::uint32_t>(npus);
  TopologyBuilder builder(std::move(name), num_npus, static_cast<std::uint32_t>(nodes - npus));
  builder.reserve_links(links);
  std::vector<std::uint32_t> to;
  for (std::uint32_t npu = 0; npu < num_npus; ++npu) {
    for (const Axis& axis : axes) {
      add_npu_links(axis, npu, to, builder);
    }
  }
  for (const Axis& axis : axes) {
    if (axis.dimension.wiring == Wiring::kSwitch) {
      add_switch_links(axis, num_npus, builder);
    }
  }
  return std::move(builder).build();
}

}  // namespace tacos
