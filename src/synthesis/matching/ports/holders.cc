// SPDX-License-Identifier: MIT
#include "synthesis/matching/ports/holders.h"

#include <bit>

namespace tacos::matching {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// The rarest seen so far; of equally rare ones the first.
struct Rarest {
  std::uint64_t key = ~std::uint64_t{0};
  std::uint32_t chunk = kNone;
};

}  // namespace

Holders::Holders(std::uint32_t num_chunks, std::uint32_t most)
    : count_(num_chunks, 0), chunks_(std::size_t{most} + 1, num_chunks), num_chunks_(most + 1, 0) {
  for (std::uint32_t chunk = 0; chunk < num_chunks; ++chunk) {
    chunks_.set(0, chunk);
  }
  num_chunks_[0] = num_chunks;
}

void Holders::add(std::uint32_t chunk) {
  const std::uint32_t count = count_[chunk]++;
  chunks_.reset(count, chunk);
  chunks_.set(count + 1, chunk);
  --num_chunks_[count];
  ++num_chunks_[count + 1];
  while (num_chunks_[least_] == 0) {
    ++least_;
  }
}

std::uint32_t Holders::rarest_of(std::span<const Word> words, std::uint64_t salt) const {
  Rarest best;
  const auto weigh = [&](std::size_t word, Word bits) {
    for (; bits != 0; bits &= bits - 1) {
      const auto chunk = static_cast<std::uint32_t>(
          word * BitMatrix::kWordBits + static_cast<std::size_t>(std::countr_zero(bits)));
      const std::uint64_t key = rarity(chunk, salt);
      if (key < best.key) {
        best = {key, chunk};
      }
    }
  };
  std::size_t first = 0;
  while (words[first] == 0) {
    ++first;
  }
  std::size_t last = words.size() - 1;
  while (words[last] == 0) {
    --last;
  }
  for (std::uint32_t count = least_; best.chunk == kNone; ++count) {
    if (num_chunks_[count] == 0) {
      continue;
    }
    const auto rare = chunks_.row(count);
    for (std::size_t word = first; word <= last; ++word) {
      weigh(word, words[word] & rare[word]);
    }
  }
  return best.chunk;
}

}  // namespace tacos::matching
