// SPDX-License-Identifier: MIT
// The ways to lay a network out, from the most particular to the one for all. Each makes places,
// frames, and bends where links would run over nodes; lay_out moves links of one pair apart, and
// rounds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/topology.h"

#include "draw/layout.h"

namespace tacos::draw {

/// Grids, slabs and switches above them, for a network that is the product of dimensions, whether
/// links have failed or not. O(nodes + links).
[[nodiscard]] std::optional<Layout> product_layout(const Topology& topology);

/// Rings and cliques of NPUs, and cliques that are joined each with each (dragonflies): circles.
/// O(links log links).
[[nodiscard]] std::optional<Layout> circle_layout(const Topology& topology);

/// Boxes and switches, the switches above what hangs on them; nothing where there are neither, or
/// where that shows no order. O(links log links) for each level of switches.
[[nodiscard]] std::optional<Layout> tiers_layout(const Topology& topology);

/// Any network: distances in the picture are as near as can be to distances in the network.
/// O(nodes x pivots + links), see stress.cc.
[[nodiscard]] Layout stress_layout(const Topology& topology);

/// A circle of all nodes in the order of their ids. O(nodes).
[[nodiscard]] Layout all_on_circle(const Topology& topology);

/// A layout of this rule with all nodes at one place, links straight, and no frames.
[[nodiscard]] Layout blank_layout(const Topology& topology, std::string_view rule);

/// The point at this angle of a circle, 0 to the right, a quarter turn down. `turns` is of any
/// size. The same on every machine, which std::sin is not.
[[nodiscard]] Place on_circle(Place middle, double radius, double turns);
/// Of `count` points on a circle, such that neighbours are `apart`.
[[nodiscard]] double circle_radius(std::uint32_t count, double apart);

[[nodiscard]] inline Place operator+(Place a, Place b) {
  return {a.x + b.x, a.y + b.y};
}
[[nodiscard]] inline Place operator-(Place a, Place b) {
  return {a.x - b.x, a.y - b.y};
}
[[nodiscard]] inline Place operator*(double factor, Place a) {
  return {factor * a.x, factor * a.y};
}

/// Width to height of a picture that people like.
inline constexpr double kShape = 1.7;
/// As many columns as make `count` cells of this size look best.
[[nodiscard]] std::uint32_t columns_for(std::uint32_t count, double width, double height);
/// Rows of NPUs below a switch: every other one stands between those of the row above, so that
/// links pass.
[[nodiscard]] std::vector<Place> staggered_rows(std::uint32_t count);

/// Corners around places.
struct Extents {
  Place low{1e300, 1e300};
  Place high{-1e300, -1e300};

  void add(Place place);
  [[nodiscard]] double width() const { return high.x - low.x; }
  [[nodiscard]] double height() const { return high.y - low.y; }
  [[nodiscard]] Place middle() const { return {(low.x + high.x) / 2, (low.y + high.y) / 2}; }
};

/// Switches in rows above what hangs on them, each as near to the x that it wants as the others
/// let it.
[[nodiscard]] std::vector<Place> rows_above(const Extents& below,
                                            double lift,
                                            const std::vector<double>& wanted);

}  // namespace tacos::draw
