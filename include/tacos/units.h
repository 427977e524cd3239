// SPDX-License-Identifier: MIT
// Units as types. All arithmetic is on integers: picoseconds, bytes, bytes per second.
#pragma once

#include <compare>
#include <cstdint>

namespace tacos {

/// A time or a span of time, in picoseconds.
struct Ticks {
  std::int64_t ps = 0;

  friend constexpr auto operator<=>(Ticks, Ticks) = default;
  friend constexpr Ticks operator+(Ticks a, Ticks b) { return {a.ps + b.ps}; }
  friend constexpr Ticks operator-(Ticks a, Ticks b) { return {a.ps - b.ps}; }
  constexpr Ticks& operator+=(Ticks b) { return ps += b.ps, *this; }
};

/// No schedule may last longer (53 days): sums of two times below this never overflow.
inline constexpr Ticks kMaxTime{std::int64_t{1} << 62};

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
