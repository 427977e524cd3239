// SPDX-License-Identifier: MIT
// 128-bit integers, for products of two 64-bit ones.
#pragma once

namespace tacos {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

// std::numeric_limits knows these types only with compiler extensions.
inline constexpr Int128 kMaxInt128 = static_cast<Int128>(~UInt128{0} >> 1U);

/// Bytes times this, over bytes per second, are a time.
inline constexpr Int128 kPsPerSecond = 1'000'000'000'000;

/// a * b and a + b, or the largest number when that is more.
[[nodiscard]] inline Int128 saturating_product(Int128 a, Int128 b) {
  Int128 out = 0;
  return __builtin_mul_overflow(a, b, &out) ? kMaxInt128 : out;
}
[[nodiscard]] inline Int128 saturating_sum(Int128 a, Int128 b) {
  Int128 out = 0;
  return __builtin_add_overflow(a, b, &out) ? kMaxInt128 : out;
}

}  // namespace tacos
