// SPDX-License-Identifier: MIT
// As much of XML as machine descriptions use: elements, attributes and text, with line numbers.
// Nothing is ever expanded or fetched: a document type that defines entities is refused, so are
// depths and sizes that no machine has.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tacos/result.h"

namespace tacos::importing {

struct XmlElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;
  /// All of its own text, one piece after the other.
  std::string text;
  std::size_t line = 0;

  /// Empty when there is none.
  [[nodiscard]] std::string_view attribute(std::string_view key) const;
};

/// The root element. O(length).
[[nodiscard]] Result<XmlElement> parse_xml(std::string_view text, const std::string& where);

}  // namespace tacos::importing
