// SPDX-License-Identifier: MIT
// Lines over a logarithmic axis, as an SVG file that can be read without colour.
#pragma once

#include <string>
#include <vector>

namespace tacos::draw {

struct Point {
  double x = 0;
  double y = 0;
};

struct Line {
  std::string name;
  /// In order of x; both above 0.
  std::vector<Point> points;
  /// Drawn thick and without marks: what the others are compared with.
  bool emphasized = false;
};

struct Axis {
  std::string title;
  /// Of a value, for people.
  std::string (*label)(double value) = nullptr;
};

struct LinePlot {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Line> lines;
};

/// Both axes logarithmic. Every line has its own mark and dashes, and its name at its end.
[[nodiscard]] std::string to_svg(const LinePlot& plot);

}  // namespace tacos::draw
