// SPDX-License-Identifier: MIT
// Recursive halving and doubling: Thakur, Rabenseifner and Gropp, "Optimization of collective
// communication operations in MPICH", IJHPCA 2005. Partners at distance 1, 2, 4, ... exchange all
// that they have. Of participants beyond a power of two each hands its part to a partner first
// and gets everything from it at the end.
#include <bit>

#include "synthesis/baselines/baseline.h"

namespace tacos::baselines {
namespace {

/// Parts of the partners in [first, first + count), and of those that they stand in for.
std::vector<std::uint32_t> parts_of(std::uint32_t first,
                                    std::uint32_t count,
                                    std::uint32_t core,
                                    std::uint32_t size) {
  std::vector<std::uint32_t> parts;
  for (std::uint32_t i = first; i < first + count; ++i) {
    parts.push_back(i);
    if (i + core < size) {
      parts.push_back(i + core);
    }
  }
  return parts;
}

Messages doubling_gather(std::uint32_t size) {
  const std::uint32_t core = std::bit_floor(size);
  Messages messages;
  for (std::uint32_t i = core; i < size; ++i) {
    messages.send(i, i - core, i);
  }
  for (std::uint32_t distance = 1; distance < core; distance *= 2) {
    for (std::uint32_t i = 0; i < core; ++i) {
      messages.send(i, i ^ distance, parts_of(i / distance * distance, distance, core, size));
    }
  }
  for (std::uint32_t i = core; i < size; ++i) {
    std::vector<std::uint32_t> parts = parts_of(0, core, core, size);
    std::erase(parts, i);
    messages.send(i - core, i, parts);
  }
  return messages;
}

}  // namespace

Result<std::vector<Algorithm>> halving_doubling(const Setup& setup) {
  return std::vector<Algorithm>{
      {.gather = [size = setup.size()](std::uint32_t) { return doubling_gather(size); }}};
}

}  // namespace tacos::baselines
