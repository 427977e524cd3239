// SPDX-License-Identifier: MIT
// Direct: everybody sends to everybody what it is owed, all at once; one hop where all are
// neighbours.
#include "synthesis/baselines/baseline.h"

namespace tacos::baselines {

Result<std::vector<Algorithm>> direct(const Setup& setup) {
  const std::uint32_t size = setup.size();
  const std::uint32_t root = setup.root();
  const auto gather = [size](std::uint32_t) {
    Messages messages;
    for (std::uint32_t shift = 1; shift < size; ++shift) {
      for (std::uint32_t i = 0; i < size; ++i) {
        messages.send(i, (i + shift) % size, i);
      }
    }
    return messages;
  };
  const auto from_root = [size, root](bool one_part) {
    Messages messages;
    for (std::uint32_t i = 0; i < size; ++i) {
      if (i != root) {
        messages.send(root, i, one_part ? 0 : i);
      }
    }
    return messages;
  };
  const auto exchange = [size](std::uint32_t) {
    Messages messages;
    for (std::uint32_t i = 0; i < size; ++i) {
      for (std::uint32_t j = 0; j < size; ++j) {
        if (i != j) {
          messages.send(i, j, i * size + j);
        }
      }
    }
    return messages;
  };
  return std::vector<Algorithm>{{.gather = gather,
                                 .spread = [from_root](std::uint32_t) { return from_root(true); },
                                 .scatter = [from_root](std::uint32_t) { return from_root(false); },
                                 .exchange = exchange}};
}

}  // namespace tacos::baselines
