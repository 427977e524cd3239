// SPDX-License-Identifier: MIT
// The pauses of links between two transfers, those of a window as a string of bytes.
//
// In order of link and of entry. Each is a few numbers in groups of seven bits: twice the distance
// from the link before, plus one if some entry of the window comes before the pause; then, in that
// case, how many; and how long the pause is.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tacos {

/// A time in the unit of a log.
using LogTime = std::uint64_t;

struct Pause {
  /// Of the in-link.
  std::uint32_t position = 0;
  /// How many entries of the window the link brought before it paused.
  std::uint32_t after = 0;
  /// From when it could have started again until it did; never 0.
  LogTime length = 0;

  friend auto operator<=>(const Pause&, const Pause&) = default;
};

[[nodiscard]] std::vector<std::byte> pack_pauses(std::span<const Pause> pauses);

/// Appends what was packed, with `first` added to the positions.
void unpack_pauses(std::span<const std::byte> packed,
                   std::uint32_t first,
                   std::vector<Pause>& pauses);

}  // namespace tacos
