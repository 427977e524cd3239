// SPDX-License-Identifier: MIT
// Pairwise exchange: Thakur, Rabenseifner and Gropp, "Optimization of collective communication
// operations in MPICH", IJHPCA 2005. An All-to-All in which everybody is busy with one other at a
// time, so that no receiver is rushed: in step s participant i sends to i XOR s, or to i + s where
// their number is no power of two.
#include <bit>

#include "synthesis/baselines/baseline.h"

namespace tacos::baselines {

Result<std::vector<Algorithm>> pairwise(const Setup& setup) {
  const auto exchange = [size = setup.size()](std::uint32_t) {
    Messages messages;
    for (std::uint32_t step = 1; step < size; ++step) {
      for (std::uint32_t i = 0; i < size; ++i) {
        const std::uint32_t j = std::has_single_bit(size) ? i ^ step : (i + step) % size;
        messages.send(i, j, i * size + j);
      }
    }
    return messages;
  };
  return std::vector<Algorithm>{{.exchange = exchange}};
}

}  // namespace tacos::baselines
