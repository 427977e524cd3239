// SPDX-License-Identifier: MIT
// What is around a picture: the lines above it that say what it shows, and the legend below.
#pragma once

#include <string>

#include "tacos/draw.h"

#include "draw/svg.h"

namespace tacos::draw {

/// Text from outside is in it as it is.
struct Heading {
  std::string title;
  /// What came out, smaller, below.
  std::string result;
};
[[nodiscard]] Heading heading_of(const Topology& topology);
/// Collective, time, part of the bound.
[[nodiscard]] Heading heading_of(const Bundle& bundle, const DrawOptions& options);

/// From the left edge on, so many pixels.
struct Breadth {
  double left = 0;
  double width = 0;
};

/// At the top; returns where it ends.
double draw_heading(Svg& svg, const Heading& heading, Breadth breadth);

/// Entries from left to right, in rows.
class Legend {
 public:
  Legend(Svg& svg, Breadth breadth, double y)
      : svg_(svg), breadth_(breadth), x_(breadth.left), y_(y) {}

  /// A sample of a line.
  void add_line(const std::string& text, const std::string& colour, double width, bool dashed);
  void add_block(const std::string& text, const std::string& colour);
  /// All colours from 0 to 1.
  void add_scale(const std::string& text,
                 const std::string& low,
                 const std::string& high,
                 Colour (*colour)(double share));
  [[nodiscard]] double end() const { return y_ + 6; }

 private:
  /// Goes to the next row where the entry does not fit.
  void make_room(double width);

  Svg& svg_;
  Breadth breadth_;
  double x_;
  double y_;
};

}  // namespace tacos::draw
