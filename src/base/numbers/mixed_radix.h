// SPDX-License-Identifier: MIT
// Numbers whose digits each have a base of their own, added digit by digit: the elements of a
// product of cyclic groups, the first digit varying fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tacos {

class MixedRadix {
 public:
  MixedRadix() = default;
  /// The product of the lengths, each 1 or more, must fit 32 bits.
  explicit MixedRadix(std::span<const std::uint32_t> lengths)
      : lengths_(lengths.begin(), lengths.end()) {
    for (const std::uint32_t length : lengths) {
      strides_.push_back(size_);
      size_ *= length;
    }
  }

  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] std::size_t num_digits() const { return lengths_.size(); }
  [[nodiscard]] std::span<const std::uint32_t> lengths() const { return lengths_; }
  /// What one more in a digit adds to the number.
  [[nodiscard]] std::uint32_t stride(std::size_t digit) const { return strides_[digit]; }
  [[nodiscard]] std::uint32_t digit(std::uint32_t number, std::size_t digit) const {
    return number / strides_[digit] % lengths_[digit];
  }
  [[nodiscard]] std::uint32_t add(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      const std::uint32_t digits = digit(a, i) + digit(b, i);
      sum += (digits < lengths_[i] ? digits : digits - lengths_[i]) * strides_[i];
    }
    return sum;
  }
  [[nodiscard]] std::uint32_t negate(std::uint32_t a) const {
    std::uint32_t negative = 0;
    for (std::size_t i = 0; i < lengths_.size(); ++i) {
      const std::uint32_t x = digit(a, i);
      negative += (x == 0 ? 0 : lengths_[i] - x) * strides_[i];
    }
    return negative;
  }
  [[nodiscard]] std::uint32_t subtract(std::uint32_t a, std::uint32_t b) const {
    return add(a, negate(b));
  }

 private:
  std::uint32_t size_ = 1;
  std::vector<std::uint32_t> lengths_;
  std::vector<std::uint32_t> strides_;
};

}  // namespace tacos
