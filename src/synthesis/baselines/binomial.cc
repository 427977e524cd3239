// SPDX-License-Identifier: MIT
// Binomial tree: Thakur, Rabenseifner and Gropp, "Optimization of collective communication
// operations in MPICH", IJHPCA 2005. Whoever has something hands one half of what lies before it to
// one who has nothing, so that those who have double in every step.
#include <algorithm>
#include <bit>
#include <vector>

#include "synthesis/baselines/baseline.h"

namespace tacos::baselines {
namespace {

/// From the root; `parts(first, count)` are what those of the ranks from `first` on need, counted
/// from the root.
template <class Parts>
Messages down(std::uint32_t size, std::uint32_t root, const Parts& parts) {
  Messages messages;
  for (std::uint32_t distance = std::bit_ceil(size) / 2; distance > 0; distance /= 2) {
    for (std::uint32_t rank = 0; rank + distance < size; rank += 2 * distance) {
      const std::uint32_t first = rank + distance;
      messages.send((root + rank) % size,
                    (root + first) % size,
                    parts(first, std::min(distance, size - first)));
    }
  }
  return messages;
}

}  // namespace

Result<std::vector<Algorithm>> binomial(const Setup& setup) {
  const std::uint32_t size = setup.size();
  const std::uint32_t root = setup.root();
  const auto one = [](std::uint32_t, std::uint32_t) { return std::vector<std::uint32_t>{0}; };
  const auto theirs = [size, root](std::uint32_t first, std::uint32_t count) {
    std::vector<std::uint32_t> parts;
    for (std::uint32_t rank = first; rank < first + count; ++rank) {
      parts.push_back((root + rank) % size);
    }
    return parts;
  };
  return std::vector<Algorithm>{
      {.spread = [=](std::uint32_t) { return down(size, root, one); },
       .scatter = [=](std::uint32_t) { return down(size, root, theirs); }}};
}

}  // namespace tacos::baselines
