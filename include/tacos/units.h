// SPDX-License-Identifier: MIT
// Units as types. All arithmetic is on integers: picoseconds, bytes, bytes per second.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace tacos {

/// A time or a span of time, in picoseconds. What leaves 64 bits stays at their end: too long
/// remains too long.
struct Ticks {
  std::int64_t ps = 0;

  friend constexpr auto operator<=>(Ticks, Ticks) = default;
  friend constexpr Ticks operator+(Ticks a, Ticks b) {
    std::int64_t sum = 0;
    return {__builtin_add_overflow(a.ps, b.ps, &sum) ? end_beyond(a.ps < 0) : sum};
  }
  friend constexpr Ticks operator-(Ticks a, Ticks b) {
    std::int64_t difference = 0;
    return {__builtin_sub_overflow(a.ps, b.ps, &difference) ? end_beyond(a.ps < 0) : difference};
  }
  friend constexpr Ticks operator*(Ticks a, std::int64_t times) {
    std::int64_t product = 0;
    return {__builtin_mul_overflow(a.ps, times, &product) ? end_beyond((a.ps < 0) != (times < 0))
                                                          : product};
  }
  constexpr Ticks& operator+=(Ticks b) { return *this = *this + b; }

 private:
  static constexpr std::int64_t end_beyond(bool negative) {
    return negative ? std::numeric_limits<std::int64_t>::min()
                    : std::numeric_limits<std::int64_t>::max();
  }
};

/// No schedule lasts longer (53 days).
inline constexpr Ticks kMaxTime{std::int64_t{1} << 62};
/// No chunk takes longer from one node to another, nor all data over one link (6 days): a few such
/// times may be added to any time of a schedule. Whoever brings a network and data together checks
/// it once (check_times) and then calculates in 64 bits.
inline constexpr Ticks kMaxCrossing{kMaxTime.ps / 8};

struct Bytes {
  std::int64_t count = 0;

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
};

struct Bandwidth {
  std::int64_t bytes_per_second = 0;

  friend constexpr auto operator<=>(Bandwidth, Bandwidth) = default;
};

/// For printing only.
[[nodiscard]] constexpr double to_us(Ticks time) {
  return static_cast<double>(time.ps) * 1e-6;
}

}  // namespace tacos
