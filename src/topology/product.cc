// SPDX-License-Identifier: MIT
// Most built-in networks are products of one-dimensional blocks: in each dimension, the NPUs that
// agree in all other coordinates form a line, a ring, a clique, or hang on one switch. Links come
// NPU by NPU, dimension by dimension, so that the out-links of an NPU have consecutive ids; the
// links out of the switches follow, switch by switch. The same walk over the links builds a product
// and checks whether a network is one. O(nodes + links).
#include <algorithm>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/text/quantity.h"
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

/// Where everything of a product is.
struct Layout {
  std::vector<Axis> axes;
  std::uint64_t npus = 1;
  std::uint64_t nodes = 0;
  std::uint64_t links = 0;
};

/// Nothing when there are no NPUs, or more than supported.
std::optional<Layout> layout_of(std::span<const Dimension> dimensions) {
  Layout layout;
  for (const Dimension& dimension : dimensions) {
    layout.npus *= dimension.length;
    if (layout.npus == 0 || layout.npus > kMaxNodes) {
      return std::nullopt;
    }
  }
  layout.nodes = layout.npus;
  std::uint32_t stride = 1;
  for (const Dimension& dimension : dimensions) {
    const std::uint64_t lines = layout.npus / dimension.length;
    layout.links += lines * links_per_line(dimension);
    layout.axes.push_back({dimension, stride, static_cast<std::uint32_t>(layout.nodes)});
    layout.nodes += dimension.wiring == Wiring::kSwitch ? lines : 0;
    stride *= dimension.length;
  }
  return layout;
}

/// Calls `visit` with each link of the NPU in this dimension; false as soon as it says so.
template <class Visit>
bool visit_npu_links(const Axis& axis,
                     std::uint32_t npu,
                     std::vector<std::uint32_t>& to,
                     const Visit& visit) {
  const Dimension& dimension = axis.dimension;
  Link link{.src = NodeId(npu),
            .dst = {},
            .bandwidth = dimension.bandwidth,
            .latency = dimension.latency,
            .gap = dimension.gap};
  if (dimension.wiring == Wiring::kSwitch) {
    // An odd picosecond goes to the way up, so that up and down add to the whole.
    link.latency.ps -= dimension.latency.ps / 2;
    link.dst = NodeId(axis.first_switch + axis.line(npu));
    return visit(link);
  }
  const std::uint32_t x = axis.coordinate(npu);
  neighbours(dimension, x, to);
  return std::all_of(to.begin(), to.end(), [&](std::uint32_t other) {
    link.dst = NodeId(npu - x * axis.stride + other * axis.stride);
    return visit(link);
  });
}

/// The same for the links out of the switches.
template <class Visit>
bool visit_switch_links(const Axis& axis, std::uint64_t num_npus, const Visit& visit) {
  const Dimension& dimension = axis.dimension;
  const auto num_lines = static_cast<std::uint32_t>(num_npus / dimension.length);
  for (std::uint32_t line = 0; line < num_lines; ++line) {
    for (std::uint32_t port = 0; port < dimension.length; ++port) {
      if (!visit(Link{.src = NodeId(axis.first_switch + line),
                      .dst = NodeId(axis.first_npu(line) + port * axis.stride),
                      .bandwidth = dimension.bandwidth,
                      .latency = {dimension.latency.ps / 2},
                      .gap = dimension.gap})) {
        return false;
      }
    }
  }
  return true;
}

/// Calls `visit` with every link in order; false as soon as it says so.
template <class Visit>
bool visit_links(const Layout& layout, const Visit& visit) {
  std::vector<std::uint32_t> to;
  for (std::uint32_t npu = 0; npu < layout.npus; ++npu) {
    for (const Axis& axis : layout.axes) {
      if (!visit_npu_links(axis, npu, to, visit)) {
        return false;
      }
    }
  }
  return std::all_of(layout.axes.begin(), layout.axes.end(), [&](const Axis& axis) {
    return axis.dimension.wiring != Wiring::kSwitch || visit_switch_links(axis, layout.npus, visit);
  });
}

}  // namespace

Result<Topology> make_product(std::string name,
                              const std::vector<Dimension>& dimensions,
                              std::vector<std::string> node_names) {
  const std::optional<Layout> layout = layout_of(dimensions);
  if (!layout) {
    return input_error(fmt::format("has more NPUs than the {} supported", format_count(kMaxNodes)),
                       name);
  }
  if (Status fits = check_network_size(layout->nodes, layout->links); !fits) {
    return input_error(fits.error().message, std::move(name));
  }
  TopologyBuilder builder(std::move(name),
                          static_cast<std::uint32_t>(layout->npus),
                          static_cast<std::uint32_t>(layout->nodes - layout->npus));
  builder.reserve_links(layout->links);
  visit_links(*layout, [&](const Link& link) {
    builder.add_link(link);
    return true;
  });
  builder.set_dimensions(dimensions);
  builder.set_node_names(std::move(node_names));
  return std::move(builder).build();
}

bool has_product_structure(const Topology& topology) {
  const std::optional<Layout> layout = layout_of(topology.dimensions());
  if (topology.dimensions().empty() || !layout || layout->npus != topology.num_npus() ||
      layout->nodes != topology.num_nodes() || layout->links != topology.num_working_links() ||
      layout->links != topology.num_links()) {
    return false;
  }
  const Link* next = topology.all_links().data();
  return visit_links(*layout, [&](const Link& link) { return link == *next++; });
}

bool is_translation_symmetric(const Topology& topology) {
  const std::span<const Dimension> dimensions = topology.dimensions();
  return std::none_of(
             dimensions.begin(),
             dimensions.end(),
             [](const Dimension& dimension) { return dimension.wiring == Wiring::kLine; }) &&
         has_product_structure(topology);
}

}  // namespace tacos
