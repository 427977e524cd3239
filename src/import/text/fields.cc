// SPDX-License-Identifier: MIT
#include "import/text/fields.h"

#include <algorithm>
#include <charconv>

namespace tacos::importing {
namespace {

constexpr std::string_view kBlank = " \t\r";

}  // namespace

std::vector<TextLine> lines_of(std::string_view text) {
  std::vector<TextLine> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    lines.push_back({.text = line, .number = lines.size() + 1});
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(kBlank, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kBlank, end);
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
  text.remove_prefix(begin);
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  return text.substr(0, end == std::string_view::npos ? 0 : end + 1);
}

std::string lower(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return small;
}

std::optional<std::int64_t> whole(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  const std::string_view digits = hexadecimal ? text.substr(2) : text;
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  constexpr std::int64_t kMost = std::int64_t{1} << 62U;
  if (error != std::errc() || end != digits.data() + digits.size() || value > kMost ||
      value < -kMost) {
    return std::nullopt;
  }
  return value;
}

}  // namespace tacos::importing
