// SPDX-License-Identifier: MIT
// Which chunk of several is the rarest.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory/bit_matrix.h"
#include "base/numbers/bits.h"

namespace tacos::matching {

/// Counts who has each chunk, and keeps for every count the chunks that have it, so that the rarest
/// of a set are found count by count: O(chunks / 64) for every count below, and the chunks of the
/// one. Of a set of few all are looked at instead.
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
  /// Calls `weigh` for chunks in `words` until `enough()`: for all that as many have as have one of
  /// them, in ascending order, and for all that are rarer.
  template <class Weigh, class Enough>
  void each_rare(std::span<const Word> words, const Weigh& weigh, const Enough& enough) const {
    std::uint64_t left = count_bits(words);
    if (left <= kFew * words.size()) {
      each(
          words, [](Word bits, std::size_t) { return bits; }, weigh);
      return;
    }
    for (std::uint32_t count = least_; left > 0 && !enough(); ++count) {
      if (num_chunks_[count] == 0) {
        continue;
      }
      const Word* const rare = chunks_.row(count).data();
      Word any = 0;
      for (std::size_t word = 0; word < words.size(); ++word) {
        any |= words[word] & rare[word];
      }
      if (any != 0) {
        each(
            words,
            [&](Word bits, std::size_t word) { return bits & rare[word]; },
            [&](std::uint32_t chunk) {
              --left;
              weigh(chunk);
            });
      }
    }
  }

 private:
  /// Chunks for each word that are looked at faster than the words of several counts.
  static constexpr std::size_t kFew = 2;

  template <class Of, class Weigh>
  static void each(std::span<const Word> words, const Of& of, const Weigh& weigh) {
    for (std::size_t word = 0; word < words.size(); ++word) {
      for (Word bits = of(words[word], word); bits != 0; bits &= bits - 1) {
        weigh(static_cast<std::uint32_t>(word * BitMatrix::kWordBits +
                                         static_cast<std::size_t>(std::countr_zero(bits))));
      }
    }
  }

  std::vector<std::uint32_t> count_;
  /// By count.
  BitMatrix chunks_;
  std::vector<std::uint32_t> num_chunks_;
  /// No chunk has a smaller count.
  std::uint32_t least_ = 0;
};

}  // namespace tacos::matching
