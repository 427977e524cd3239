// SPDX-License-Identifier: MIT
// What pictures are written with: an SVG text that grows, and the colours in it.
#pragma once

#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tacos::draw {

class Svg {
 public:
  template <class... Values>
  void emit(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    text_ += '\n';
  }

  /// Between the tags of a picture of this size, on white.
  [[nodiscard]] std::string finish(double width, double height) &&;

 private:
  std::string text_;
};

/// What words of this many characters take, about; fonts differ.
[[nodiscard]] double text_width(std::string_view text, double font_size);
/// Text from outside, cut so that it fits, as markup.
[[nodiscard]] std::string fitted(std::string_view text, double width, double font_size);

/// About six round numbers from 0 to `most`, for an axis.
[[nodiscard]] std::vector<double> even_ticks(double most);

struct Colour {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;

  friend bool operator==(const Colour&, const Colour&) = default;
};
/// "#21918c".
[[nodiscard]] std::string to_string(Colour colour);
/// `share` of the way from one to the other, 0 to 1.
[[nodiscard]] Colour between(Colour from, Colour to, double share);

/// From light (0) to dark (1), in equal steps for the eye, for those who confuse red and green too,
/// and in print without colour: viridis, the other way round.
[[nodiscard]] Colour busy_colour(double share);

// Okabe and Ito's, which the same people tell apart.
inline constexpr Colour kBlue{0x00, 0x72, 0xb2};
inline constexpr Colour kVermilion{0xd5, 0x5e, 0x00};
/// What carries nothing.
inline constexpr Colour kIdle{0xc3, 0xc9, 0xd1};

inline constexpr std::string_view kInk = "#1f2933";
inline constexpr std::string_view kFaintInk = "#6b7682";

}  // namespace tacos::draw
