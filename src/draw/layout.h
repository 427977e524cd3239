// SPDX-License-Identifier: MIT
// Where the nodes of a network go in a picture, and how its links run between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/topology.h"

namespace tacos::draw {

/// x to the right, y down, in units of about the distance between neighbours. Whole multiples of
/// 1 / kGrid, so that they are written and added up exactly.
struct Place {
  double x = 0;
  double y = 0;

  friend bool operator==(const Place&, const Place&) = default;
};
inline constexpr double kGrid = 64;

/// How large nodes are drawn, in the same units; links end at the rim.
inline constexpr double kNpuRadius = 0.27;
/// Half of the side of the square that a switch is.
inline constexpr double kSwitchRadius = 0.27;

/// How a link leaves the straight line between its nodes; all 0 is straight. Links keep to the
/// right, so that those the other way, and parallel ones, can be told apart.
struct Run {
  /// The whole link moved to the right of its direction.
  float shift = 0;
  /// How far its middle is to the right of where it would be; negative is left.
  float bend = 0;
  /// How far outwards it first goes at both ends, away from the other one: links that wrap around.
  float reach = 0;
  /// How thick it may be without touching those beside it.
  float room = 0;

  friend bool operator==(const Run&, const Run&) = default;
};

enum class Outline {
  kBox,     ///< a rectangle with round corners
  kCircle,  ///< the one inside the square from `low` to `high`
  kSlab,    ///< a parallelogram with upright sides: the right one is higher by `skew`
};

/// Something around nodes that belong together: a box, a group, a layer of a product.
struct Frame {
  Outline outline = Outline::kBox;
  /// The corners that contain it, skew included.
  Place low;
  Place high;
  double skew = 0;
  /// For people, above it or at its upper left corner; may be empty. Text, never markup.
  std::string label;

  friend bool operator==(const Frame&, const Frame&) = default;
};

inline constexpr std::uint32_t kNoFrame = ~std::uint32_t{0};

struct Layout {
  /// By node; no two are the same.
  std::vector<Place> nodes;
  /// By link, those that failed among them.
  std::vector<Run> runs;
  /// In the order in which they are drawn: those around others come first.
  std::vector<Frame> frames;
  /// By node: the innermost frame that it is in, or kNoFrame.
  std::vector<std::uint32_t> frame_of;
  /// Corners around all nodes, links and frames.
  Place low;
  Place high;
  /// What decided: "product", "circle", "groups", "tiers", "stress".
  std::string_view rule;

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The same on every machine. Links that failed count as if they worked, so that a network looks
/// the same after a failure. O(links log links); by stress O(nodes x pivots + links).
[[nodiscard]] Layout lay_out(const Topology& topology);

/// A link as a cubic Bezier curve from the middle of its source to that of its destination, moved
/// aside as its run says.
struct Curve {
  Place from;
  Place control_1;
  Place control_2;
  Place to;

  [[nodiscard]] Place at(double share) const;
  /// Its part up to there.
  [[nodiscard]] Curve until(double share) const;
};
[[nodiscard]] Curve curve_of(const Layout& layout, const Link& link, const Run& run);

}  // namespace tacos::draw
