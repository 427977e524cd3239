// SPDX-License-Identifier: MIT
// Where slots are in memory, for so many elements.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tacos/program.h"

namespace tacos::execution {

/// A part of `unit` elements is cut into `cuts`; the i-th begins at element i unit / cuts. A buffer
/// is one part, or one for each participant.
struct Layout {
  std::size_t unit = 0;
  std::size_t cuts = 1;
  std::size_t element = 1;

  [[nodiscard]] std::size_t begin(std::size_t cut) const {
    // What is multiplied is smaller than `cuts`, so that nothing overflows.
    return unit / cuts * cut + unit % cuts * cut / cuts;
  }
  [[nodiscard]] std::size_t bytes(std::size_t cut) const {
    return (begin(cut + 1) - begin(cut)) * element;
  }
  /// The most bytes of a cut.
  [[nodiscard]] std::size_t max_bytes() const { return (unit + cuts - 1) / cuts * element; }

  /// Of a slot in a buffer of so many; `positions` say where the parts of participants are.
  [[nodiscard]] std::size_t offset(Slot slot,
                                   std::size_t slots,
                                   std::span<const std::uint32_t> positions) const {
    if (slot.buffer == Buffer::kScratch) {
      return slot.index * stride();
    }
    const std::size_t part = slot.index / cuts;
    const std::size_t place = slots > cuts && !positions.empty() ? positions[part] : part;
    return (place * unit + begin(slot.index % cuts)) * element;
  }
  /// From one slot of scratch to the next: on a cache line of its own.
  [[nodiscard]] std::size_t stride() const { return (max_bytes() + kLine - 1) / kLine * kLine; }

  static constexpr std::size_t kLine = 64;
};

}  // namespace tacos::execution
