// SPDX-License-Identifier: MIT
// Bruck et al., "Efficient algorithms for all-to-all communications in multiport message-passing
// systems", IEEE TPDS 1997: log2 steps for any number of participants, at the cost of sending some
// parts more than once in an All-to-All.
#include <algorithm>

#include "synthesis/baselines/baseline.h"

namespace tacos::baselines {
namespace {

/// In every step as much as one has comes from twice as far.
Messages bruck_gather(std::uint32_t size) {
  Messages messages;
  std::vector<std::uint32_t> parts;
  for (std::uint32_t distance = 1; distance < size; distance *= 2) {
    const std::uint32_t count = std::min(distance, size - distance);
    for (std::uint32_t i = 0; i < size; ++i) {
      parts.clear();
      for (std::uint32_t k = 0; k < count; ++k) {
        parts.push_back((i + k) % size);
      }
      messages.send(i, (i + size - distance) % size, parts);
    }
  }
  return messages;
}

/// A part that has to go d further goes by the powers of two that d is made of.
Messages exchange(std::uint32_t size) {
  Messages messages;
  std::vector<std::uint32_t> parts;
  for (std::uint32_t step = 1; step < size; step *= 2) {
    for (std::uint32_t i = 0; i < size; ++i) {
      parts.clear();
      for (std::uint32_t distance = step; distance < size; ++distance) {
        if ((distance & step) != 0) {
          const std::uint32_t src = (i + size - (distance & (step - 1))) % size;
          parts.push_back(src * size + (src + distance) % size);
        }
      }
      messages.send(i, (i + step) % size, parts);
    }
  }
  return messages;
}

}  // namespace

Result<std::vector<Algorithm>> bruck(const Setup& setup) {
  const std::uint32_t size = setup.size();
  return std::vector<Algorithm>{{.gather = [size](std::uint32_t) { return bruck_gather(size); },
                                 .exchange = [size](std::uint32_t) { return exchange(size); }}};
}

}  // namespace tacos::baselines
