// SPDX-License-Identifier: MIT
// A matrix of bits, each row starting on a 64-bit word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/memory/huge_vector.h"

namespace tacos {

class BitMatrix {
 public:
  using Word = std::uint64_t;
  static constexpr std::size_t kWordBits = 64;

  BitMatrix() = default;
  BitMatrix(std::size_t rows, std::size_t columns)
      : rows_(rows),
        words_per_row_((columns + kWordBits - 1) / kWordBits),
        words_(rows * words_per_row_) {}

  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t words_per_row() const { return words_per_row_; }
  [[nodiscard]] std::span<Word> row(std::size_t row) {
    return std::span(words_).subspan(row * words_per_row_, words_per_row_);
  }
  [[nodiscard]] std::span<const Word> row(std::size_t row) const {
    return std::span(words_).subspan(row * words_per_row_, words_per_row_);
  }
  [[nodiscard]] bool test(std::size_t row, std::size_t column) const {
    return (words_[row * words_per_row_ + column / kWordBits] >> column % kWordBits & 1U) != 0;
  }
  void set(std::size_t row, std::size_t column) {
    words_[row * words_per_row_ + column / kWordBits] |= Word{1} << column % kWordBits;
  }
  void reset(std::size_t row, std::size_t column) {
    words_[row * words_per_row_ + column / kWordBits] &= ~(Word{1} << column % kWordBits);
  }

 private:
  std::size_t rows_ = 0;
  std::size_t words_per_row_ = 0;
  HugeVector<Word> words_;
};

}  // namespace tacos
