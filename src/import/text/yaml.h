// SPDX-License-Identifier: MIT
// As much of YAML as networks are written in: maps and lists, by indentation or in brackets, of
// plain and quoted values; comments. Anchors, aliases, tags, multi-line texts and several documents
// are refused: an alias can make gigabytes of a line.
#pragma once

#include <string>
#include <string_view>

#include "tacos/result.h"

#include "base/text/json_reader.h"

namespace tacos::importing {

/// The document as JSON. O(length).
[[nodiscard]] Result<Json> parse_yaml(std::string_view text, const std::string& where);

}  // namespace tacos::importing
