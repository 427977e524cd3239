// SPDX-License-Identifier: MIT
#include "synthesis/matching/holders.h"

#include <algorithm>

namespace tacos::matching {
namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

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
  // Of equally rare ones the first.
  std::uint64_t best = ~std::uint64_t{0};
  std::uint32_t rarest = kNone;
  each_rare(
      words,
      [&](std::uint32_t chunk) {
        const std::uint64_t key = rarity(chunk, salt);
        rarest = key < best ? chunk : rarest;
        best = std::min(best, key);
      },
      [&] { return rarest != kNone; });
  return rarest;
}

}  // namespace tacos::matching
