// SPDX-License-Identifier: MIT
// Which chunk of several is the rarest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory/bit_matrix.h"

namespace tacos::matching {

/// Counts who has each chunk, and keeps for every count the chunks that have it, so that the rarest
/// of a set is found count by count: O(chunks / 64) for every count below, and the chunks of the
/// one.
class Holders {
 public:
  using Word = BitMatrix::Word;

  Holders() = default;
  /// Nobody has any; at most `most` will.
  Holders(std::uint32_t num_chunks, std::uint32_t most);

  /// One more has it.
  void add(std::uint32_t chunk);

  /// How many have it, then random bits: smaller is rarer.
  [[nodiscard]] std::uint64_t rarity(std::uint32_t chunk, std::uint64_t salt) const {
    const std::uint64_t noise = (chunk + salt) * 0x9e3779b97f4a7c15U >> 32U;
    return std::uint64_t{count_[chunk]} << 32U | noise;
  }
  /// Of the chunks in `words`, of which there is one at least.
  [[nodiscard]] std::uint32_t rarest_of(std::span<const Word> words, std::uint64_t salt) const;

 private:
  std::vector<std::uint32_t> count_;
  /// By count.
  BitMatrix chunks_;
  std::vector<std::uint32_t> num_chunks_;
  /// No chunk has a smaller count.
  std::uint32_t least_ = 0;
};

}  // namespace tacos::matching
