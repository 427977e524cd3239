// SPDX-License-Identifier: MIT
#include "draw/svg.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text/printable.h"

namespace tacos::draw {
namespace {

/// Of a character, to the size of the font: those of a title, where there are more narrow ones.
constexpr double kWide = 0.55;

constexpr std::array kViridis{Colour{0x44, 0x01, 0x54},
                              Colour{0x48, 0x24, 0x75},
                              Colour{0x41, 0x44, 0x87},
                              Colour{0x35, 0x5f, 0x8d},
                              Colour{0x2a, 0x78, 0x8e},
                              Colour{0x21, 0x91, 0x8c},
                              Colour{0x22, 0xa8, 0x84},
                              Colour{0x44, 0xbf, 0x70},
                              Colour{0x7a, 0xd1, 0x51},
                              Colour{0xbd, 0xdf, 0x26}};

}  // namespace

std::string Svg::finish(double width, double height) && {
  return fmt::format(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" )"
                     R"(width="{0:.0f}" height="{1:.0f}" )"
                     R"(font-family="Helvetica, Arial, sans-serif" font-size="12" fill="{2}">)"
                     "\n"
                     R"(<rect width="{0:.0f}" height="{1:.0f}" fill="white"/>)"
                     "\n",
                     std::ceil(width),
                     std::ceil(height),
                     kInk) +
         std::move(text_) + "</svg>\n";
}

double text_width(std::string_view text, double font_size) {
  return kWide * font_size * static_cast<double>(num_characters(text));
}

std::string fitted(std::string_view text, double width, double font_size) {
  const double room = std::max(4.0, std::floor(width / (kWide * font_size)));
  return markup_text(shortened(printable(text), static_cast<std::size_t>(room)));
}

std::vector<double> even_ticks(double most) {
  constexpr double kTen = 10;
  constexpr double kMany = 6;
  const double power = std::pow(kTen, std::floor(std::log10(most / kMany)));
  double step = power;
  for (const double factor : {2.0, 5.0, kTen}) {
    if (most / step > kMany) {
      step = factor * power;
    }
  }
  std::vector<double> all;
  for (double i = 0; i * step <= most * (1 + 1e-9); ++i) {
    all.push_back(i * step);
  }
  return all;
}

std::string to_string(Colour colour) {
  return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

Colour between(Colour from, Colour to, double share) {
  const auto mix = [share](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + share * (b - a)));
  };
  return {mix(from.red, to.red), mix(from.green, to.green), mix(from.blue, to.blue)};
}

Colour busy_colour(double share) {
  const double at = (1 - std::clamp(share, 0.0, 1.0)) * (kViridis.size() - 1);
  const auto below = std::min(static_cast<std::size_t>(at), kViridis.size() - 2);
  return between(kViridis[below], kViridis[below + 1], at - static_cast<double>(below));
}

}  // namespace tacos::draw
