// SPDX-License-Identifier: MIT
// Products by their dimensions.
//
// The place of an NPU is the sum of one offset for each of its coordinates, so that all copies of a
// block look alike. Dimension after dimension is added to the block that those before it make:
//
// - the first two of lines, rings and cliques are the rows and columns of a grid; when a third
//   follows, the first runs into the depth and the grid becomes a slab that stands upright, of
//   which there are several side by side;
// - further ones set the whole side by side, or below each other, whichever gives the better
//   shape; their links bend past the nodes between;
// - NPUs of a switch are in rows below it, or, where blocks hang on switches, blocks are, each in
//   a frame, with one switch for each place in a block above all of them.
//
// A product of one dimension that is a ring or a clique is a circle. Links that wrap around first
// go outwards, then past the whole row, those of either direction on their side.
//
// A network with failures does not say that it is a product, but its name begins with what it was;
// every link is compared with that. O(nodes + links).
#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "draw/layouts/layouts.h"
#include "topology/generators.h"

namespace tacos::draw {
namespace {

/// Of a slab, one step of its first dimension: less than a whole, so that rows stay apart, and such
/// that no two nodes of a slab are at one height.
constexpr Place kDepth{0.78, -0.47};
/// Of a hypercube, a step of each of its first dimensions: two squares make a cube, two cubes stand
/// side by side, and so on, each way a little slanted, so that no link runs over a node.
constexpr std::array<Place, 6> kCube{Place{2, 0},
                                     Place{0, 2},
                                     Place{0.8, -0.7},
                                     Place{4.6, 0.85},
                                     Place{-0.85, 5},
                                     Place{9.9, -1.6}};
/// Between blocks, and from a switch to what is below it.
constexpr double kGap = 1.5;
/// From the middle of a node to the frame around it.
constexpr double kSlabMargin = 0.55;
/// A line of more NPUs than this goes on in a new row.
constexpr std::uint32_t kLongLine = 32;

constexpr float kWrapBend = 0.36F;
constexpr float kWrapReach = 0.9F;
constexpr float kPassBend = 0.42F;

/// Where the coordinates of one dimension sit in the ids.
struct Span {
  Wiring wiring;
  std::uint32_t length;
  std::uint32_t stride;
  std::uint32_t first_switch;

  [[nodiscard]] std::uint32_t coordinate(std::uint32_t npu) const { return npu / stride % length; }
  [[nodiscard]] std::uint32_t line(std::uint32_t npu) const {
    return npu / (stride * length) * stride + npu % stride;
  }
};

struct Shape {
  std::vector<Span> spans;
  std::uint32_t num_npus = 1;
  std::uint32_t num_nodes = 0;
};

std::optional<Shape> shape_of(std::span<const Dimension> dimensions, const Topology& topology) {
  Shape shape;
  std::uint64_t npus = 1;
  for (const Dimension& dimension : dimensions) {
    npus *= dimension.length;
    if (npus == 0 || npus > topology.num_npus()) {
      return std::nullopt;
    }
  }
  shape.num_npus = static_cast<std::uint32_t>(npus);
  std::uint64_t nodes = npus;
  std::uint32_t stride = 1;
  for (const Dimension& dimension : dimensions) {
    shape.spans.push_back(
        {dimension.wiring, dimension.length, stride, static_cast<std::uint32_t>(nodes)});
    stride *= dimension.length;
    nodes += dimension.wiring == Wiring::kSwitch ? npus / dimension.length : 0;
  }
  shape.num_nodes = static_cast<std::uint32_t>(nodes);
  const bool fits =
      !dimensions.empty() && npus == topology.num_npus() && nodes == topology.num_nodes();
  return fits ? std::optional(shape) : std::nullopt;
}

/// The dimension that a link runs along, if it is one of the product.
std::optional<std::size_t> dimension_of(const Shape& shape, const Link& link) {
  const std::uint32_t a = std::min(link.src, link.dst).value();
  const std::uint32_t b = std::max(link.src, link.dst).value();
  for (std::size_t d = 0; a < shape.num_npus && d < shape.spans.size(); ++d) {
    const Span& span = shape.spans[d];
    if (span.wiring == Wiring::kSwitch) {
      if (b >= span.first_switch && b == span.first_switch + span.line(a)) {
        return d;
      }
      continue;
    }
    if (b >= shape.num_npus || span.line(a) != span.line(b)) {
      continue;
    }
    const std::uint32_t step = span.coordinate(b) - span.coordinate(a);
    const bool wraps = span.wiring == Wiring::kRing && step + 1 == span.length;
    if (step == 1 || wraps || span.wiring == Wiring::kFullyConnected) {
      return d;
    }
  }
  return std::nullopt;
}

/// What the network is, or was before something in it failed, the product of.
std::optional<Shape> find_shape(const Topology& topology) {
  std::optional<Shape> shape;
  if (topology.dimensions().empty()) {
    const std::string_view name = topology.name();
    shape = shape_of(product_dimensions(name.substr(0, name.find(' '))), topology);
  } else {
    shape = shape_of(topology.dimensions(), topology);
  }
  const auto links = topology.all_links();
  const bool fits = shape && std::all_of(links.begin(), links.end(), [&](const Link& link) {
                      return dimension_of(*shape, link).has_value();
                    });
  return fits ? shape : std::nullopt;
}

/// How copies of a block are placed.
struct Step {
  std::vector<Place> offsets;
  /// Of a switch dimension, where its switches are, by the place in the block below.
  std::vector<Place> switches;
  /// Links bend past nodes.
  bool bends = false;
  /// Whether the block before this step gets a frame, and of which kind.
  std::optional<Outline> frame;
};

class ProductLayout {
 public:
  ProductLayout(const Topology& topology, Shape shape)
      : topology_(topology), shape_(std::move(shape)), layout_(blank_layout(topology, "product")) {}

  Layout make() {
    extents_.add({});
    for (std::size_t d = 0; d < shape_.spans.size(); ++d) {
      if (shape_.spans[d].wiring == Wiring::kSwitch || shape_.spans[d].length > 1) {
        kinds_.push_back(d);
      }
    }
    steps_.resize(shape_.spans.size());
    for (std::size_t d = 0; d < shape_.spans.size(); ++d) {
      add_dimension(d);
    }
    place_nodes();
    for (std::uint32_t id = 0; id < topology_.num_links(); ++id) {
      layout_.runs[id] = run_of(topology_.link(LinkId(id)));
    }
    return std::move(layout_);
  }

 private:
  [[nodiscard]] bool is_grid(std::size_t nth) const {
    return nth < kinds_.size() && shape_.spans[kinds_[nth]].wiring != Wiring::kSwitch;
  }
  /// Whether the first three dimensions that count make slabs.
  [[nodiscard]] bool slabs() const { return !cube() && is_grid(0) && is_grid(1) && is_grid(2); }

  [[nodiscard]] bool cube() const {
    return kinds_.size() > 2 && std::all_of(kinds_.begin(), kinds_.end(), [&](std::size_t d) {
             return shape_.spans[d].wiring != Wiring::kSwitch && shape_.spans[d].length == 2;
           });
  }

  void add_dimension(std::size_t d) {
    const Span& span = shape_.spans[d];
    Step& step = steps_[d];
    before_.push_back(extents_);
    if (span.wiring == Wiring::kSwitch) {
      add_switches(span, step);
    } else if (span.length == 1) {
      step.offsets.assign(1, {});
      return;
    } else if (kinds_.size() == 1) {
      add_alone(span, step);
    } else if (cube() && placed_ < kCube.size()) {
      line_up(span, kCube[placed_], step);
    } else if (placed_ == 0) {
      line_up(span, slabs() ? kDepth : Place{1, 0}, step);
    } else if (placed_ == 1 && is_grid(0)) {
      line_up(span, {0, 1}, step);
    } else {
      add_blocks(span, step);
    }
    grow(step);
    ++placed_;
  }

  static void line_up(const Span& span, Place apart, Step& step) {
    for (std::uint32_t i = 0; i < span.length; ++i) {
      step.offsets.push_back(static_cast<double>(i) * apart);
    }
  }

  void add_alone(const Span& span, Step& step) {
    const bool round = span.wiring != Wiring::kLine && span.length > 2;
    const std::uint32_t columns =
        span.length > kLongLine ? columns_for(span.length, 1, 1) : span.length;
    const double radius =
        circle_radius(span.length, span.wiring == Wiring::kFullyConnected ? 1.25 : 1);
    for (std::uint32_t i = 0; i < span.length; ++i) {
      if (round) {
        step.offsets.push_back(on_circle({}, radius, static_cast<double>(i) / span.length - 0.25));
      } else {
        // Every other row runs back, so that neighbours stay neighbours.
        const std::uint32_t row = i / columns;
        const std::uint32_t column = row % 2 == 0 ? i % columns : columns - 1 - i % columns;
        step.offsets.push_back({static_cast<double>(column), static_cast<double>(row)});
      }
    }
    round_ = round;
  }

  /// Blocks of what there is so far, in a row or a column.
  void add_blocks(const Span& span, Step& step) {
    const bool first_slabs = placed_ == 2 && slabs();
    // Blocks of blocks have frames, which need room as well.
    const double gap = placed_ > 2 ? kGap + 2 * kSlabMargin : kGap;
    const double wide = extents_.width() + gap;
    const double high = extents_.height() + gap;
    const auto badness = [](double width, double height) {
      return std::max(width / (kShape * height), kShape * height / width);
    };
    const bool across =
        first_slabs || badness(span.length * wide, high) <= badness(wide, span.length * high);
    line_up(span, across ? Place{wide, 0} : Place{0, high}, step);
    step.bends = !first_slabs;
    if (!cube()) {
      step.frame = first_slabs ? Outline::kSlab : Outline::kBox;
    }
  }

  void add_switches(const Span& span, Step& step) {
    const bool npus = placed_ == 0;
    if (npus) {
      step.offsets = staggered_rows(span.length);
    } else {
      const double wide = extents_.width() + 2 * kSlabMargin + 0.5;
      const double high = extents_.height() + 2 * kSlabMargin + 0.5;
      // Wide rows rather than tall columns: the switches come above.
      const std::uint32_t columns = columns_for(span.length, wide, 1.6 * high);
      for (std::uint32_t i = 0; i < span.length; ++i) {
        const std::uint32_t row = i / columns;
        step.offsets.push_back({i % columns * wide, row * high});
      }
      step.frame = Outline::kBox;
    }
    Extents all;
    for (const Place& offset : step.offsets) {
      all.add(extents_.low + offset);
      all.add(extents_.high + offset);
    }
    step.switches = rows_above(all,
                               npus ? kGap : kGap + kSlabMargin + 0.2 * std::sqrt(all.width()),
                               std::vector<double>(span.stride, all.middle().x));
  }

  void grow(const Step& step) {
    const Extents block = extents_;
    for (const Place& offset : step.offsets) {
      extents_.add(block.low + offset);
      extents_.add(block.high + offset);
    }
    for (const Place& place : step.switches) {
      extents_.add(place);
    }
  }

  /// Of the dimensions from `first` on, for a number that counts their coordinates.
  [[nodiscard]] Place offset_from(std::size_t first, std::uint32_t number) const {
    Place place;
    for (std::size_t d = first; d < shape_.spans.size(); ++d) {
      place = place + steps_[d].offsets[number % shape_.spans[d].length];
      number /= shape_.spans[d].length;
    }
    return place;
  }

  void place_nodes() {
    for (std::uint32_t npu = 0; npu < shape_.num_npus; ++npu) {
      layout_.nodes[npu] = offset_from(0, npu);
    }
    for (std::size_t d = 0; d < shape_.spans.size(); ++d) {
      const Span& span = shape_.spans[d];
      if (span.wiring != Wiring::kSwitch) {
        continue;
      }
      for (std::uint32_t line = 0; line < shape_.num_npus / span.length; ++line) {
        layout_.nodes[span.first_switch + line] =
            steps_[d].switches[line % span.stride] + offset_from(d + 1, line / span.stride);
      }
    }
    // Outer ones first, so that inner ones are drawn over them and win.
    for (std::size_t d = shape_.spans.size(); d-- > 0;) {
      if (steps_[d].frame) {
        add_frames(d);
      }
    }
  }

  /// Around every copy of the block before this dimension.
  void add_frames(std::size_t d) {
    const Span& span = shape_.spans[d];
    const Extents& block = before_[d];
    const auto first = static_cast<std::uint32_t>(layout_.frames.size());
    const bool slab = steps_[d].frame == Outline::kSlab;
    // Its upper and lower edges are as steep as its rows.
    const double steep = -kDepth.y / kDepth.x;
    const Place margin{kSlabMargin, slab ? kSlabMargin + kSlabMargin * steep : kSlabMargin};
    for (std::uint32_t copy = 0; copy < shape_.num_npus / span.stride; ++copy) {
      const Place offset = offset_from(d, copy);
      layout_.frames.push_back(
          {.outline = *steps_[d].frame,
           .low = block.low + offset - margin,
           .high = block.high + offset + margin,
           .skew = slab ? (block.width() + 2 * margin.x) * steep : 0,
           .label = slab ? fmt::format("z = {}", copy % span.length) : std::string()});
    }
    for (std::uint32_t npu = 0; npu < shape_.num_npus; ++npu) {
      layout_.frame_of[npu] = first + npu / span.stride;
    }
    for (std::size_t inner = 0; inner < d; ++inner) {
      const Span& below = shape_.spans[inner];
      const std::uint32_t lines =
          below.wiring == Wiring::kSwitch ? shape_.num_npus / below.length : 0;
      for (std::uint32_t line = 0; line < lines; ++line) {
        const std::uint32_t npu = line / below.stride * below.stride * below.length;
        layout_.frame_of[below.first_switch + line] = first + npu / span.stride;
      }
    }
  }

  [[nodiscard]] Run run_of(const Link& link) const {
    const std::size_t d = *dimension_of(shape_, link);
    const Span& span = shape_.spans[d];
    Run run;
    if (span.wiring == Wiring::kSwitch || round_) {
      return run;
    }
    const std::uint32_t a = span.coordinate(link.src.value());
    const std::uint32_t b = span.coordinate(link.dst.value());
    const std::uint32_t step = a < b ? b - a : a - b;
    if (step > 1 && span.wiring == Wiring::kRing) {
      run.bend = kWrapBend;
      run.reach = kWrapReach;
    } else if (step > 1) {
      run.bend = kWrapBend + 0.12F * static_cast<float>(step - 2);
    } else if (steps_[d].bends) {
      run.bend = kPassBend;
    }
    return run;
  }

  const Topology& topology_;
  Shape shape_;
  Layout layout_;
  /// Dimensions that add something to the picture.
  std::vector<std::size_t> kinds_;
  std::vector<Step> steps_;
  /// By dimension: the block before it.
  std::vector<Extents> before_;
  Extents extents_;
  std::size_t placed_ = 0;
  bool round_ = false;
};

}  // namespace

std::optional<Layout> product_layout(const Topology& topology) {
  std::optional<Shape> shape = find_shape(topology);
  return shape ? std::optional(ProductLayout(topology, *std::move(shape)).make()) : std::nullopt;
}

}  // namespace tacos::draw
