// SPDX-License-Identifier: MIT
// The value of --sizes, `A..B`.
#pragma once

#include <string>
#include <vector>

#include "tacos/result.h"
#include "tacos/units.h"

namespace tacos::cli {

struct SizeRange {
  Bytes first;
  Bytes last;
};
[[nodiscard]] Result<SizeRange> parse_size_range(const std::string& text);

/// A, 4 A, 16 A and so on, up to B.
[[nodiscard]] Result<std::vector<Bytes>> parse_sizes(const std::string& text);

}  // namespace tacos::cli
