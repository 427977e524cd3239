// SPDX-License-Identifier: MIT
// Permutations of 0 to n - 1, as the list of where each goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace tacos {

using Permutation = std::vector<std::uint32_t>;

[[nodiscard]] inline Permutation identity_permutation(std::size_t size) {
  Permutation identity(size);
  std::iota(identity.begin(), identity.end(), 0U);
  return identity;
}

/// First `first`, then `second`.
[[nodiscard]] inline Permutation composed(const Permutation& first, const Permutation& second) {
  Permutation both(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    both[i] = second[first[i]];
  }
  return both;
}

[[nodiscard]] inline Permutation inverted(const Permutation& permutation) {
  Permutation inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i) {
    inverse[permutation[i]] = static_cast<std::uint32_t>(i);
  }
  return inverse;
}

/// For each of 0 to size - 1 the first one that the permutations take to it.
[[nodiscard]] inline std::vector<std::uint32_t> orbits(std::span<const Permutation> generators,
                                                       std::size_t size) {
  constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> orbit(size, kNone);
  std::vector<std::uint32_t> reached;
  for (std::uint32_t first = 0; first < size; ++first) {
    if (orbit[first] != kNone) {
      continue;
    }
    orbit[first] = first;
    reached.assign(1, first);
    for (std::size_t next = 0; next < reached.size(); ++next) {
      for (const Permutation& generator : generators) {
        const std::uint32_t to = generator[reached[next]];
        if (orbit[to] == kNone) {
          orbit[to] = first;
          reached.push_back(to);
        }
      }
    }
  }
  return orbit;
}

}  // namespace tacos
