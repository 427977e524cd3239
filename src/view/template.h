// SPDX-License-Identifier: MIT
// The page without its data, made of page/ by join.cmake while building.
#pragma once

#include <string_view>

namespace tacos::viewing {

/// What stands where the title and the data go.
inline constexpr std::string_view kTitleMark = "@TITLE@";
inline constexpr std::string_view kDataMark = "@DATA@";

[[nodiscard]] std::string_view page_template();

}  // namespace tacos::viewing
