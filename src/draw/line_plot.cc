// SPDX-License-Identifier: MIT
#include "draw/line_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "base/text/printable.h"
#include "draw/svg.h"

namespace tacos::draw {
namespace {

constexpr double kPlotWidth = 860;
constexpr double kPlotHeight = 520;
constexpr double kPlotLeft = 78;
constexpr double kPlotRight = 190;
constexpr double kPlotTop = 46;
constexpr double kBottom = 56;

// Colours that people who confuse red and green tell apart (Okabe and Ito); dashes and marks say
// the same.
constexpr std::array<std::string_view, 7> kColours{
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"};
constexpr std::array<std::string_view, 5> kDashes{"", "7 3", "2 3", "9 3 2 3", "4 2"};

struct Extent {
  double least = std::numeric_limits<double>::max();
  double most = 0;

  void add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

/// From values to places.
class Scale {
 public:
  Scale(Spacing spacing, const Extent& extent, double from, double to)
      : spacing_(spacing),
        low_(measure(extent.least)),
        span_(std::max(1e-9, measure(extent.most) - low_)),
        from_(from),
        to_(to) {}
  double operator()(double value) const {
    return from_ + (measure(value) - low_) / span_ * (to_ - from_);
  }

 private:
  [[nodiscard]] double measure(double value) const {
    return spacing_ == Spacing::kLogarithmic ? std::log2(value) : value;
  }

  Spacing spacing_;
  double low_;
  double span_;
  double from_;
  double to_;
};

/// Powers of `base` within the extent, or its ends when there are too few of them.
std::vector<double> ticks(Spacing spacing, const Extent& extent, double base) {
  if (spacing == Spacing::kLinear) {
    return even_ticks(extent.most);
  }
  std::vector<double> all;
  for (double exponent = std::ceil(std::log(extent.least) / std::log(base) - 1e-9);; ++exponent) {
    const double value = std::pow(base, exponent);
    if (value > extent.most * (1 + 1e-9)) {
      break;
    }
    all.push_back(value);
  }
  return all.size() < 2 ? std::vector<double>{extent.least, extent.most} : all;
}

std::string mark(std::size_t kind, double x, double y, std::string_view colour) {
  constexpr double kSize = 3.6;
  switch (kind % 4) {
    case 0:
      return fmt::format(
          R"(<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}"/>)", x, y, kSize, colour);
    case 1:
      return fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="{}" height="{}" fill="{}"/>)",
                         x - kSize,
                         y - kSize,
                         2 * kSize,
                         2 * kSize,
                         colour);
    case 2:
      return fmt::format(
          R"(<path d="M{:.1f} {:.1f}l{} {}h{}z" fill="white" stroke="{}" stroke-width="1.5"/>)",
          x,
          y - kSize - 1,
          kSize + 1,
          2 * kSize + 1,
          -2 * (kSize + 1),
          colour);
    default:
      return fmt::format(
          R"(<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="white" stroke="{}" stroke-width="1.5"/>)",
          x,
          y,
          kSize,
          colour);
  }
}

/// Where the names of lines go: at their ends, but not over each other.
std::vector<double> label_places(std::vector<double> wanted) {
  constexpr double kLabelsApart = 14;
  std::vector<std::size_t> order(wanted.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    order[i] = i;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return wanted[a] < wanted[b];
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    wanted[order[i]] = std::max(wanted[order[i]], wanted[order[i - 1]] + kLabelsApart);
  }
  for (std::size_t i = order.size(); i-- > 0;) {
    const double most =
        i + 1 == order.size() ? kPlotHeight - kBottom : wanted[order[i + 1]] - kLabelsApart;
    wanted[order[i]] = std::min(wanted[order[i]], most);
  }
  return wanted;
}

class Picture {
 public:
  explicit Picture(LinePlot plot) : plot_(std::move(plot)) {
    for (Line& line : plot_.lines) {
      std::erase_if(line.points, [&](const Point& point) {
        return !has_place(plot_.x, point.x) || !has_place(plot_.y, point.y);
      });
      for (const Point& point : line.points) {
        x_.add(point.x);
        y_.add(point.y);
      }
    }
    if (x_.most == 0) {
      x_ = y_ = {.least = 1, .most = 10};
    }
    fit(plot_.x, x_, 1);
    // Some air above and below.
    fit(plot_.y, y_, plot_.y.spacing == Spacing::kLogarithmic ? 1.3 : 1.05);
  }

  std::string draw() {
    emit(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" )"
        R"(font-family="sans-serif" font-size="12">)",
        kPlotWidth,
        kPlotHeight);
    emit(R"(<rect width="{}" height="{}" fill="white"/>)", kPlotWidth, kPlotHeight);
    emit(R"(<text x="{}" y="24" font-size="15" font-weight="bold">{}</text>)",
         kPlotLeft,
         markup_text(plot_.title));
    draw_axes();
    draw_lines();
    text_ += "</svg>\n";
    return std::move(text_);
  }

 private:
  static bool has_place(const Axis& axis, double value) {
    return axis.spacing == Spacing::kLinear || value > 0;
  }
  static void fit(const Axis& axis, Extent& extent, double air) {
    extent.least = axis.spacing == Spacing::kLinear ? 0 : extent.least / air;
    extent.most *= air;
  }

  template <class... Values>
  void emit(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }

  void draw_axes() {
    constexpr double kPower = 4;
    for (const double value : ticks(plot_.x.spacing, x_, kPower)) {
      const double at = across(value);
      emit(R"(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" stroke="#dddddd"/>)",
           at,
           kPlotTop,
           kPlotHeight - kBottom);
      emit(R"(<text x="{:.1f}" y="{}" text-anchor="middle">{}</text>)",
           at,
           kPlotHeight - kBottom + 18,
           markup_text(plot_.x.label(value)));
    }
    constexpr double kTen = 10;
    for (const double value : ticks(plot_.y.spacing, y_, kTen)) {
      const double at = up(value);
      emit(R"(<line x1="{0}" x2="{1}" y1="{2:.1f}" y2="{2:.1f}" stroke="#dddddd"/>)",
           kPlotLeft,
           kPlotWidth - kPlotRight,
           at);
      emit(R"(<text x="{}" y="{:.1f}" text-anchor="end">{}</text>)",
           kPlotLeft - 8,
           at + 4,
           markup_text(plot_.y.label(value)));
    }
    emit(R"(<rect x="{}" y="{}" width="{}" height="{}" fill="none" stroke="#888888"/>)",
         kPlotLeft,
         kPlotTop,
         kPlotWidth - kPlotLeft - kPlotRight,
         kPlotHeight - kPlotTop - kBottom);
    emit(R"(<text x="{}" y="{}" text-anchor="middle">{}</text>)",
         (kPlotLeft + kPlotWidth - kPlotRight) / 2,
         kPlotHeight - 14,
         markup_text(plot_.x.title));
    emit(R"svg(<text transform="translate(18 {}) rotate(-90)" text-anchor="middle">{}</text>)svg",
         (kPlotTop + kPlotHeight - kBottom) / 2,
         markup_text(plot_.y.title));
  }

  void draw_lines() {
    std::vector<double> ends;
    for (const Line& line : plot_.lines) {
      ends.push_back(line.points.empty() ? kPlotTop : up(line.points.back().y) + 4);
    }
    const std::vector<double> places = label_places(std::move(ends));
    std::size_t kind = 0;
    for (std::size_t i = 0; i < plot_.lines.size(); ++i) {
      if (!plot_.lines[i].points.empty()) {
        draw_line(plot_.lines[i], kind, places[i]);
        kind += plot_.lines[i].emphasized ? 0 : 1;
      }
    }
  }

  /// `kind` says how it is marked and dashed, `label` at which height its name stands.
  void draw_line(const Line& line, std::size_t kind, double label) {
    const std::string_view colour = line.emphasized ? "black" : kColours[kind % kColours.size()];
    std::string path;
    std::string marks;
    constexpr std::size_t kMostMarks = 24;
    const std::size_t apart = (line.points.size() + kMostMarks - 1) / kMostMarks;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
      const double x = across(line.points[i].x);
      const double y = up(line.points[i].y);
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", x, y);
      if (i % apart == apart / 2) {
        marks += mark(kind, x, y, colour) + "\n";
      }
    }
    emit(R"(<path d="{}" fill="none" stroke="{}" stroke-width="{}" stroke-dasharray="{}"/>)",
         path,
         colour,
         line.emphasized ? 2.6 : 1.5,
         line.emphasized ? std::string_view() : kDashes[kind % kDashes.size()]);
    const double right = kPlotWidth - kPlotRight;
    emit(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="#bbbbbb"/>)",
         across(line.points.back().x),
         up(line.points.back().y),
         right + 14,
         label - 4);
    emit(R"(<text x="{:.1f}" y="{:.1f}"{}>{}</text>)",
         right + (line.emphasized ? 16 : 28),
         label,
         line.emphasized ? R"( font-weight="bold")" : "",
         markup_text(line.name));
    if (!line.emphasized) {
      text_ += marks + mark(kind, right + 20, label - 4, colour) + "\n";
    }
  }

  [[nodiscard]] double across(double value) const {
    return Scale(plot_.x.spacing, x_, kPlotLeft, kPlotWidth - kPlotRight)(value);
  }
  [[nodiscard]] double up(double value) const {
    return Scale(plot_.y.spacing, y_, kPlotHeight - kBottom, kPlotTop)(value);
  }

  LinePlot plot_;
  Extent x_;
  Extent y_;
  std::string text_;
};

}  // namespace

std::string to_svg(const LinePlot& plot) {
  return Picture(plot).draw();
}

}  // namespace tacos::draw
