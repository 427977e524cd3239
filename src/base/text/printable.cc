// SPDX-License-Identifier: MIT
#include "base/text/printable.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace tacos {
namespace {

/// How many bytes the character at the front takes; 0 when it is not UTF-8.
std::size_t utf8_length(std::string_view text) {
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t length = lead < 0x80   ? 1
                             : lead < 0xc0 ? 0
                             : lead < 0xe0 ? 2
                             : lead < 0xf0 ? 3
                             : lead < 0xf8 ? 4
                                           : 0;
  if (length == 0 || length > text.size()) {
    return 0;
  }
  std::uint32_t code = length == 1 ? lead : lead & (0x7fU >> length);
  for (const char next : text.substr(1, length - 1)) {
    const auto byte = static_cast<unsigned char>(next);
    if ((byte & 0xc0U) != 0x80U) {
      return 0;
    }
    code = code << 6U | (byte & 0x3fU);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast.at(length) || surrogate || code > 0x10ffff ? 0 : length;
}

/// The same, and 0 for control characters: those below 0x20, and from 0x7f to 0x9f.
std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const bool control =
      lead < 0x20 || lead == 0x7f ||
      (lead == 0xc2 && text.size() > 1 && static_cast<unsigned char>(text[1]) < 0xa0);
  return control ? 0 : utf8_length(text);
}

/// The text, with \n and the like for bytes that begin no character by `length_of`.
template <class LengthOf>
std::string with_escapes(std::string_view text, const LengthOf& length_of) {
  std::string line;
  while (!text.empty()) {
    const std::size_t length = length_of(text);
    if (length > 0) {
      line += text.substr(0, length);
    } else if (text[0] == '\n') {
      line += "\\n";
    } else {
      line += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return line;
}

/// Calls visit(character) for every character of printable text.
template <class Visit>
void each_character(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(1, character_length(text));
    visit(text.substr(0, length));
    text.remove_prefix(length);
  }
}

}  // namespace

std::string printable(std::string_view text) {
  return with_escapes(text, character_length);
}

std::string utf8(std::string_view text) {
  return with_escapes(text, utf8_length);
}

std::string markup_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::size_t num_characters(std::string_view text) {
  std::size_t count = 0;
  each_character(text, [&](std::string_view /*character*/) { ++count; });
  return count;
}

std::string shortened(std::string_view text, std::size_t most) {
  constexpr std::string_view kCut = "...";
  const std::size_t count = num_characters(text);
  if (count <= most) {
    return std::string(text);
  }
  const std::size_t end = (most - kCut.size()) / 3;
  const std::size_t begin = most - kCut.size() - end;
  std::string left;
  std::size_t at = 0;
  each_character(text, [&](std::string_view character) {
    if (at < begin || at >= count - end) {
      left += character;
    } else if (at == begin) {
      left += kCut;
    }
    ++at;
  });
  return left;
}

}  // namespace tacos
