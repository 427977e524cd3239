// SPDX-License-Identifier: MIT
// Draws what a script has measured: JSON on standard input, SVG on standard output.
//
// {"title": ..., "x": {"title": ..., "unit": "bytes"|"number"|"percent", "linear": true}, "y": ...,
//  "lines": [{"name": ..., "points": [[x, y], ...], "emphasized": true}, ...]}
#include <cmath>
#include <cstdio>
#include <iostream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/quantity.h"
#include "draw/line_plot.h"

namespace {

using Json = nlohmann::json;

std::string label(const std::string& unit, double value) {
  if (unit == "bytes") {
    return tacos::format_size({std::llround(value)});
  }
  return unit == "percent" ? fmt::format("{:g}%", 100 * value)
         : value < 1       ? fmt::format("{:g}", value)
                           : tacos::format_count(static_cast<std::uint64_t>(std::llround(value)));
}

tacos::draw::Axis axis(const Json& json) {
  const std::string unit = json.at("unit");
  return {.title = json.at("title"),
          .label = [unit](double value) { return label(unit, value); },
          .spacing = json.value("linear", false) ? tacos::draw::Spacing::kLinear
                                                 : tacos::draw::Spacing::kLogarithmic};
}

}  // namespace

int main() try {
  const Json json = Json::parse(std::cin);
  tacos::draw::LinePlot plot{
      .title = json.at("title"), .x = axis(json.at("x")), .y = axis(json.at("y")), .lines = {}};
  for (const Json& line : json.at("lines")) {
    plot.lines.push_back(
        {.name = line.at("name"), .points = {}, .emphasized = line.value("emphasized", false)});
    for (const Json& point : line.at("points")) {
      plot.lines.back().points.push_back({point.at(0), point.at(1)});
    }
  }
  fmt::print("{}", tacos::draw::to_svg(plot));
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "draw_plot: {}\n", error.what());
  return 1;
}
