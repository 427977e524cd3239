// SPDX-License-Identifier: MIT
// The lines that links are drawn as. What the eye cannot tell apart is one line: on large pictures
// the two directions of a pair, and where nodes are closer than pixels, all links between two
// spots; with the mean of how busy they are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tacos/topology.h"

#include "draw/layout.h"
#include "draw/svg.h"

namespace tacos::draw {

struct Stroke {
  /// In units of the layout.
  Curve curve;
  bool straight = true;
  /// In pixels.
  double width = 1;
  /// Share of time that it is busy; nothing where that is not known, or it failed.
  std::optional<double> busy;
  bool failed = false;
  /// Text from outside.
  std::string tooltip = {};
  /// Where an arrow points to; nothing for none.
  std::optional<NodeId> arrow = std::nullopt;

  [[nodiscard]] Colour colour() const;
};
/// Of links about which nothing else is known.
inline constexpr Colour kPlain{0x5a, 0x6b, 0x7d};

/// More lines than these share what they have in common, and have no tooltips.
inline constexpr std::size_t kMostTooltips = 3'000;

struct Scene {
  const Topology& topology;
  const Layout& layout;
  /// By link, or null.
  const std::vector<double>* busy = nullptr;
  /// Pixels that a unit of the layout has.
  double unit = 1;
};

/// From bandwidth to pixels.
class Widths {
 public:
  explicit Widths(const Scene& scene);
  [[nodiscard]] double of(Bandwidth bandwidth) const;

 private:
  double fastest_ = 1;
  double scale_ = 1;
};

/// In the order in which they are drawn: what matters more comes last. O(links log links).
[[nodiscard]] std::vector<Stroke> strokes_of(const Scene& scene);

}  // namespace tacos::draw
