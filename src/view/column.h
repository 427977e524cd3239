// SPDX-License-Identifier: MIT
// Columns of numbers as a page holds them: JSON that says how, and bytes in base64.
//
// {"count": n, "value": v}                         n times the same
// {"count": n, "type": T, "data": base64}          little-endian; T is u8, u16, u32, f32 or f64
// {..., "how": "delta", "first": v}                each is the difference to the one before
// {..., "how": "table", "table": [...]}            each is a place in the table
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

namespace tacos::viewing {

using Json = nlohmann::ordered_json;
using Numbers = std::vector<std::uint64_t>;

/// In the form of these that takes the fewest bytes. Numbers beyond 2^53 are rounded to what a page
/// can calculate with.
[[nodiscard]] Json column(std::span<const std::uint64_t> numbers);
/// As they are.
[[nodiscard]] Json column(std::span<const float> numbers);
[[nodiscard]] Json column(std::span<const std::uint8_t> numbers);

}  // namespace tacos::viewing
