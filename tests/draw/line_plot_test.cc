// SPDX-License-Identifier: MIT
#include "draw/line_plot.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tacos::draw {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string in_words(double value) {
  return fmt::format("<{:.0f}>", value);
}

LinePlot plot_of(std::vector<Line> lines) {
  return {.title = "A & B",
          .x = {.title = "x", .label = in_words},
          .y = {.title = "y", .label = in_words},
          .lines = std::move(lines)};
}

std::size_t count(const std::string& text, std::string_view word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

TEST(LinePlot, NamesAreTextAndNotMarkup) {
  const std::string svg = to_svg(plot_of({{.name = "0>1", .points = {{1, 1}, {4, 2}}}}));
  EXPECT_THAT(svg, HasSubstr("A &amp; B"));
  EXPECT_THAT(svg, HasSubstr("0&gt;1"));
  EXPECT_THAT(svg, HasSubstr("&lt;4&gt;"));
}

TEST(LinePlot, LogarithmicAxesPutEqualFactorsEquallyFarApart) {
  // The place of 4 is in the middle between those of 1 and 16: 78 and 670 on a page of 860.
  const std::string svg = to_svg(plot_of({{.name = "a", .points = {{1, 1}, {4, 1}, {16, 1}}}}));
  EXPECT_THAT(svg, HasSubstr("M78.0"));
  EXPECT_THAT(svg, HasSubstr("L374.0"));
  EXPECT_THAT(svg, HasSubstr("L670.0"));
}

TEST(LinePlot, LinearAxesBeginAtZero) {
  LinePlot plot = plot_of({{.name = "a", .points = {{10, 5}, {20, 10}}}});
  plot.x.spacing = plot.y.spacing = Spacing::kLinear;
  const std::string svg = to_svg(plot);
  EXPECT_THAT(svg, HasSubstr("M374.0"));
  EXPECT_THAT(svg, HasSubstr("L670.0"));
  EXPECT_THAT(svg, HasSubstr("&lt;0&gt;"));
}

TEST(LinePlot, WhatALogarithmicAxisHasNoPlaceForIsLeftOut) {
  const std::string svg = to_svg(plot_of({{.name = "a", .points = {{1, 0}, {4, 1}, {16, 2}}}}));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_EQ(count(svg, " L"), 1U);
}

TEST(LinePlot, IsDrawnWithoutAnyPoints) {
  const std::string svg =
      to_svg(plot_of({{.name = "a", .points = {{1, 0}}}, {.name = "b", .points = {}}}));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, HasSubstr("</svg>"));
}

TEST(LinePlot, ALongLineHasMarksAtSomePointsOnly) {
  std::vector<Point> points;
  for (int i = 1; i <= 1'000; ++i) {
    points.push_back({static_cast<double>(i), 1});
  }
  const std::string svg = to_svg(plot_of({{.name = "a", .points = points}}));
  EXPECT_EQ(count(svg, " L"), 999U);
  EXPECT_LE(count(svg, "<circle"), 26U);
}

}  // namespace
}  // namespace tacos::draw
