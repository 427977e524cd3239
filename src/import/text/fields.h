// SPDX-License-Identifier: MIT
// Text taken apart into lines and words, and the numbers in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tacos::importing {

struct TextLine {
  std::string_view text;
  std::size_t number = 0;
};

/// All lines, without their ends; the first has number 1.
[[nodiscard]] std::vector<TextLine> lines_of(std::string_view text);
/// What stands between spaces and tabs.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);
[[nodiscard]] std::string_view trimmed(std::string_view text);
[[nodiscard]] std::string lower(std::string_view text);
/// A whole number, decimal or with 0x; nothing when it is none, or one of more than 62 bits.
[[nodiscard]] std::optional<std::int64_t> whole(std::string_view text);

}  // namespace tacos::importing
