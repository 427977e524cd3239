// SPDX-License-Identifier: MIT
// Text from outside, made fit to be shown: names are text, and never move a cursor or become
// markup.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tacos {

/// With \n and the like for what would move the cursor, and for what is not UTF-8.
[[nodiscard]] std::string printable(std::string_view text);

/// As it is, but with \xff and the like for bytes that are not UTF-8.
[[nodiscard]] std::string utf8(std::string_view text);

/// Printable text between tags or in double quotes of XML, SVG or HTML.
[[nodiscard]] std::string markup_text(std::string_view text);

/// How many characters printable text has.
[[nodiscard]] std::size_t num_characters(std::string_view text);
/// Printable text of at most so many characters, at least four: its beginning and its end.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t most);

}  // namespace tacos
