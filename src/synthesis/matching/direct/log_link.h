// SPDX-License-Identifier: MIT
// A link that walks through its source's arrival log in search of what its destination lacks.
//
// Probing is what takes the time of a matcher: three of four entries are held already, in no
// pattern that a branch predictor could learn. So entries are tested in blocks of 8, without
// branches, into a mask of those that are missing, of which one is taken at each arrival. Masks
// outlive windows: where those are short, reading blocks anew in each took as long again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/memory/bit_matrix.h"
#include "synthesis/matching/direct/gather_network.h"

namespace tacos::matching {

/// 32 bytes, none of them of a type whose writing could change anything else as far as a compiler
/// knows.
struct LogLink {
  /// When the transfer under way ends; kNever while there is none. Not used in step.
  GridTime arrival = kNever;
  std::uint32_t src = 0;
  /// Positions in the source's log: of the block that it is looking at, before which the
  /// destination has every entry, and behind it.
  std::uint32_t block = 0;
  std::uint32_t next = 0;
  /// A bit for each entry of the block that was missing when it was read and was not taken.
  std::uint32_t missing = 0;
  /// The source had every entry before this when the transfer under way began.
  std::uint32_t open = 0;
  /// Number of its period and delay.
  std::uint32_t times : 31 = 0;
  /// Whether it has found nothing to start with since its last transfer.
  std::uint32_t waits : 1 = 1;

  /// Whether it has looked at all of a log that has this length.
  [[nodiscard]] bool done(std::uint32_t length) const { return missing == 0 && next == length; }
  /// Where the entry is that was found.
  [[nodiscard]] std::uint32_t found() const {
    return block + static_cast<std::uint32_t>(std::countr_zero(missing));
  }
  /// Leaves it behind.
  void take() { missing &= missing - 1; }
};

/// 1 when the row of bits lacks the chunk, else 0.
[[nodiscard]] inline std::uint32_t lacks(const BitMatrix::Word* held, std::size_t chunk) {
  constexpr auto kBits = BitMatrix::kWordBits;
  return static_cast<std::uint32_t>(~held[chunk / kBits] >> chunk % kBits & 1U);
}

/// Goes to the next entry that the row of bits lacks, in a log of `length` entries whose `block`
/// begins where the link is; null when there is none.
template <class Id>
[[gnu::always_inline]] inline const Id* find_missing(LogLink& link,
                                                     const Id* block,
                                                     std::uint32_t length,
                                                     const BitMatrix::Word* held) {
  constexpr std::uint32_t kBlock = 8;
  for (;;) {
    while (link.missing != 0) {
      const Id* entry = block + std::countr_zero(link.missing);
      if (lacks(held, *entry) != 0) [[likely]] {
        return entry;
      }
      // Another link has brought it since the block was read.
      link.take();
    }
    block += link.next - link.block;
    link.block = link.next;
    const std::uint32_t left = length - link.block;
    std::uint32_t missing = 0;
    if (left >= kBlock) [[likely]] {
      for (std::uint32_t i = 0; i < kBlock; ++i) {
        missing |= lacks(held, block[i]) << i;
      }
      link.next += kBlock;
    } else if (left == 0) {
      return nullptr;
    } else {
      for (std::uint32_t i = 0; i < left; ++i) {
        missing |= lacks(held, block[i]) << i;
      }
      link.next += left;
    }
    link.missing = missing;
  }
}

}  // namespace tacos::matching
