// SPDX-License-Identifier: MIT
// Bits of many words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace tacos {

/// How many are set. By arithmetic on whole words, which compilers make vectors of: not every
/// machine that we build for has an instruction for it, and a call per word takes ten times as
/// long.
[[nodiscard]] inline std::uint64_t count_bits(std::span<const std::uint64_t> words) {
  constexpr std::uint64_t kTwos = 0x5555555555555555U;
  constexpr std::uint64_t kFours = 0x3333333333333333U;
  constexpr std::uint64_t kBytes = 0x0f0f0f0f0f0f0f0fU;
  constexpr std::uint64_t kPairs = 0x00ff00ff00ff00ffU;
  // A byte holds the counts of so many.
  constexpr std::size_t kAtOnce = 31;
  std::uint64_t total = 0;
  while (!words.empty()) {
    const auto some = words.first(std::min(kAtOnce, words.size()));
    std::uint64_t bytes = 0;
    for (std::uint64_t word : some) {
      word -= word >> 1U & kTwos;
      word = (word & kFours) + (word >> 2U & kFours);
      bytes += (word + (word >> 4U)) & kBytes;
    }
    const std::uint64_t pairs = (bytes & kPairs) + (bytes >> 8U & kPairs);
    total += pairs * 0x0001000100010001U >> 48U;
    words = words.subspan(some.size());
  }
  return total;
}

}  // namespace tacos
