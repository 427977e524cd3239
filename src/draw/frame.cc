// SPDX-License-Identifier: MIT
#include "draw/frame.h"

#include <algorithm>

#include "base/text/printable.h"
#include "base/text/quantity.h"

namespace tacos::draw {
namespace {

constexpr double kFont = 11.5;
constexpr double kSample = 30;
constexpr double kBetween = 24;
constexpr double kRow = 22;

std::string size_text(const Topology& topology) {
  std::string text = fmt::format("{} NPUs", format_count(topology.num_npus()));
  if (topology.num_switches() > 0) {
    text += fmt::format(", {} switches", format_count(topology.num_switches()));
  }
  text += fmt::format(", {} links", format_count(topology.num_links()));
  const std::uint32_t failed = topology.num_links() - topology.num_working_links();
  if (failed > 0) {
    text += fmt::format(" ({} failed)", format_count(failed));
  }
  return text;
}

}  // namespace

Heading heading_of(const Topology& topology) {
  return {.title = topology.name(), .result = size_text(topology)};
}

Heading heading_of(const Bundle& bundle, const DrawOptions& options) {
  const Ticks time = bundle.schedule.collective_time();
  std::string result = format_time(time);
  if (options.bound && time.ps > 0) {
    result +=
        fmt::format(", {:.1f}% of the bound",
                    100 * static_cast<double>(options.bound->ps) / static_cast<double>(time.ps));
  }
  return {.title = fmt::format("{} of {} on {}",
                               bundle.collective.name(),
                               format_size(bundle.collective.size()),
                               bundle.topology.name()),
          .result = fmt::format("{} ({}; {})", result, bundle.engine, size_text(bundle.topology))};
}

double draw_heading(Svg& svg, const Heading& heading, Breadth breadth) {
  constexpr double kTitle = 17;
  constexpr double kResult = 12.5;
  svg.emit(R"(<text x="{:.1f}" y="34" font-size="{}" font-weight="bold">{}</text>)",
           breadth.left,
           kTitle,
           fitted(heading.title, breadth.width, kTitle));
  svg.emit(R"(<text x="{:.1f}" y="54" font-size="{}" fill="{}">{}</text>)",
           breadth.left,
           kResult,
           kFaintInk,
           fitted(heading.result, breadth.width, kResult));
  return 62;
}

void Legend::make_room(double width) {
  if (x_ > breadth_.left && x_ + width > breadth_.left + breadth_.width) {
    x_ = breadth_.left;
    y_ += kRow;
  }
}

void Legend::add_line(const std::string& text,
                      const std::string& colour,
                      double width,
                      bool dashed) {
  const double all = kSample + 7 + text_width(text, kFont);
  make_room(all);
  svg_.emit(
      R"(<line x1="{0:.1f}" x2="{1:.1f}" y1="{2:.1f}" y2="{2:.1f}" stroke="{3}" stroke-width="{4:.1f}"{5}/>)",
      x_,
      x_ + kSample,
      y_ - 4,
      colour,
      width,
      dashed ? R"( stroke-dasharray="5 4")" : "");
  svg_.emit(R"(<text x="{:.1f}" y="{:.1f}" font-size="{}">{}</text>)",
            x_ + kSample + 7,
            y_,
            kFont,
            markup_text(text));
  x_ += all + kBetween;
}

void Legend::add_block(const std::string& text, const std::string& colour) {
  constexpr double kSide = 11;
  const double all = kSide + 6 + text_width(text, kFont);
  make_room(all);
  svg_.emit(R"(<rect x="{:.1f}" y="{:.1f}" width="{}" height="{}" fill="{}"/>)",
            x_,
            y_ - kSide + 1.5,
            kSide,
            kSide,
            colour);
  svg_.emit(R"(<text x="{:.1f}" y="{:.1f}" font-size="{}">{}</text>)",
            x_ + kSide + 6,
            y_,
            kFont,
            markup_text(text));
  x_ += all + kBetween;
}

void Legend::add_scale(const std::string& text,
                       const std::string& low,
                       const std::string& high,
                       Colour (*colour)(double share)) {
  constexpr int kSteps = 50;
  constexpr double kStep = 2.6;
  const double before = text_width(text + " " + low, kFont) + 8;
  const double all = before + kSteps * kStep + 6 + text_width(high, kFont);
  make_room(all);
  svg_.emit(R"(<text x="{:.1f}" y="{:.1f}" font-size="{}">{} {}</text>)",
            x_,
            y_,
            kFont,
            markup_text(text),
            markup_text(low));
  for (int step = 0; step < kSteps; ++step) {
    // A little wider than a step, so that no gaps show between them.
    svg_.emit(R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="10" fill="{}"/>)",
              x_ + before + step * kStep,
              y_ - 9,
              kStep + 0.3,
              to_string(colour((step + 0.5) / kSteps)));
  }
  svg_.emit(R"(<text x="{:.1f}" y="{:.1f}" font-size="{}">{}</text>)",
            x_ + before + kSteps * kStep + 6,
            y_,
            kFont,
            markup_text(high));
  x_ += all + kBetween;
}

}  // namespace tacos::draw
