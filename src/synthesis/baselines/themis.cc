// SPDX-License-Identifier: MIT
// Themis: Rashidi et al., "Themis: a network bandwidth-aware collective scheduling policy for
// distributed training of DL models", ISCA 2022. Dimension by dimension, but each piece in an order
// of its own: it begins its Reduce-Scatter, where there is most to send, in the dimension that has
// the least to do so far. Along a dimension it takes what suits its wiring.
#include <algorithm>
#include <numeric>

#include "synthesis/baselines/grid.h"

namespace tacos::baselines {
namespace {

Style style_of(const Axis& axis) {
  switch (axis.wiring) {
    case Wiring::kLine:
    case Wiring::kRing:
      return Style::kRing;
    case Wiring::kFullyConnected:
      return Style::kDirect;
    case Wiring::kSwitch:
      return Style::kDoubling;
  }
  return Style::kRing;
}

/// What an NPU can send along the axis in a second.
double capacity(const Axis& axis) {
  const auto one = static_cast<double>(std::max<std::int64_t>(1, axis.bandwidth.bytes_per_second));
  switch (axis.wiring) {
    case Wiring::kRing:
      return axis.length > 2 ? 2 * one : one;
    case Wiring::kFullyConnected:
      return one * (axis.length - 1);
    case Wiring::kLine:
    case Wiring::kSwitch:
      return one;
  }
  return one;
}

/// Of the Reduce-Scatter of one piece after the other.
class Orders {
 public:
  explicit Orders(std::span<const Axis> axes) : axes_(axes), load_(axes.size(), 0) {}

  std::vector<std::uint32_t> next() {
    std::vector<std::uint32_t> order(axes_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return load_[a] < load_[b];
    });
    double share = 1;
    for (const std::uint32_t axis : order) {
      const double length = axes_[axis].length;
      load_[axis] += share * (length - 1) / length / capacity(axes_[axis]);
      share /= length;
    }
    return order;
  }

 private:
  std::span<const Axis> axes_;
  std::vector<double> load_;
};

}  // namespace

Result<std::vector<Algorithm>> themis(const Setup& setup) {
  const Result<Grid> grid = find_grid(setup);
  if (!grid) {
    return grid.error();
  }
  if (grid->axes().size() < 2) {
    return input_error("is for networks of two and more dimensions; with one it is a ring");
  }
  return std::vector<Algorithm>{{.gather = [grid = *grid](std::uint32_t piece) {
    Orders orders(grid.axes());
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i <= piece; ++i) {
      order = orders.next();
    }
    std::reverse(order.begin(), order.end());
    return grid.gather(
        order, piece % 2 == 0, [&](std::uint32_t axis) { return style_of(grid.axes()[axis]); });
  }}};
}

}  // namespace tacos::baselines
