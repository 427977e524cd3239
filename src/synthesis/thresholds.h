// SPDX-License-Identifier: MIT
// Where `auto` draws its lines, all measured with the suite of bench/.
#pragma once

#include <cstdint>

namespace tacos {

/// Within this part of the bound a schedule is as good as any.
inline constexpr std::int64_t kAsGoodAsBound = 100;
/// Up to this many NPUs `auto` tries every engine that fits, and where it helps both link models:
/// it takes tenths of a second.
inline constexpr std::uint32_t kMostTried = 16;
/// Up to this many it tries most of them.
inline constexpr std::uint32_t kMostCompared = 128;
/// Up to this many it lets bounds choose between trees and the others.
inline constexpr std::uint32_t kMostWeighed = 2'000;
/// Up to this many matching is tried beside a pattern, or beside trees from one root.
inline constexpr std::uint32_t kMostBesidePattern = 512;

}  // namespace tacos
