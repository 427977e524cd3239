// SPDX-License-Identifier: MIT
// Ways to go coordinate by coordinate, and along each of them digit by digit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace tacos::exchange {

/// Of a coordinate, written in some radix; of the last digit there may be fewer values.
struct Digit {
  std::uint32_t axis = 0;
  /// What one more in the digit adds to the coordinate.
  std::uint32_t stride = 1;
  std::uint32_t radix = 2;
};

/// Beyond so many the rest is not looked at.
inline constexpr std::size_t kMostDigitOrders = 512;

/// Calls visit(digits) for every order of the coordinates and every radix of each, from 2 up to its
/// length or what is given as the most for it.
template <class Visit>
void for_each_digit_order(std::span<const std::uint32_t> lengths,
                          std::span<const std::uint32_t> most_radix,
                          const Visit& visit) {
  std::vector<std::uint32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0U);
  std::vector<Digit> digits;
  std::size_t visited = 0;
  do {
    std::vector<std::uint32_t> radix(lengths.size(), 2);
    for (std::size_t axis = 0; axis < lengths.size() && visited < kMostDigitOrders; ++visited) {
      digits.clear();
      for (const std::uint32_t a : order) {
        for (std::uint32_t stride = 1; stride < lengths[a]; stride *= radix[a]) {
          const std::uint32_t left = (lengths[a] + stride - 1) / stride;
          digits.push_back({.axis = a, .stride = stride, .radix = std::min(radix[a], left)});
        }
      }
      visit(std::span<const Digit>(digits));
      for (axis = 0; axis < lengths.size(); ++axis) {
        if (++radix[axis] <= std::min(lengths[axis], most_radix[axis])) {
          break;
        }
        radix[axis] = 2;
      }
    }
  } while (std::next_permutation(order.begin(), order.end()) && visited < kMostDigitOrders);
}

}  // namespace tacos::exchange
