// SPDX-License-Identifier: MIT
// Lines over two axes, as an SVG file that can be read without colour.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tacos::draw {

struct Point {
  double x = 0;
  double y = 0;
};

struct Line {
  std::string name;
  /// In order of x. What a logarithmic axis has no place for, 0 and below, is left out.
  std::vector<Point> points;
  /// Drawn thick and without marks: what the others are compared with.
  bool emphasized = false;
};

enum class Spacing {
  kLogarithmic,
  kLinear,  ///< from 0 on
};

struct Axis {
  std::string title;
  /// Of a value, for people.
  std::function<std::string(double value)> label;
  Spacing spacing = Spacing::kLogarithmic;
};

struct LinePlot {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Line> lines;
};

/// Every line has its own mark and dashes, and its name at its end. A line of very many points has
/// marks at some of them.
[[nodiscard]] std::string to_svg(const LinePlot& plot);

}  // namespace tacos::draw
