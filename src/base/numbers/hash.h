// SPDX-License-Identifier: MIT
// A 64-bit hash of a stream of bytes: for telling schedules apart, not for secrets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/numbers/rng.h"

namespace tacos {

class StreamHash {
 public:
  void add(std::uint64_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15U;
    state_ ^= state_ >> 32U;
  }
  void add(std::span<const std::byte> bytes) {
    add(bytes.size());
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, 8);
      add(word);
    }
    if (at < bytes.size()) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, bytes.size() - at);
      add(word);
    }
  }
  [[nodiscard]] std::uint64_t value() const { return mix64(state_); }

 private:
  std::uint64_t state_ = 0;
};

}  // namespace tacos
