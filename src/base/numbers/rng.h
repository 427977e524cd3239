// SPDX-License-Identifier: MIT
// Small generators whose output is the same on every machine and standard library.
#pragma once

#include <cstdint>

namespace tacos {

/// A bijection of 64-bit words that looks random (the finalizer of splitmix64, Steele et al. 2014).
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// Hash of a pair, for seeds of the form hash(seed, iteration).
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t a, std::uint64_t b) {
  return mix64(mix64(a) ^ b);
}

class Rng {
 public:
  constexpr explicit Rng(std::uint64_t seed) : state_(mix64(seed)) {}

  constexpr std::uint64_t next() { return mix64(state_++); }
  /// Uniform in [0, bound) up to a bias of bound / 2^32; bound > 0.
  constexpr std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>((next() >> 32U) * bound >> 32U);
  }

 private:
  std::uint64_t state_;
};

}  // namespace tacos
