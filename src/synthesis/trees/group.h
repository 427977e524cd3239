// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tacos::trees {

/// Items by owner, in the order in which `each` lists (owner, item) pairs; it is called twice.
template <class Each>
void group(std::size_t owners,
           const Each& each,
           std::vector<std::uint32_t>& first,
           std::vector<std::uint32_t>& items) {
  first.assign(owners + 1, 0);
  each([&](std::uint32_t owner, std::uint32_t /*item*/) { ++first[owner + 1]; });
  std::partial_sum(first.begin(), first.end(), first.begin());
  items.resize(first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  each([&](std::uint32_t owner, std::uint32_t item) { items[next[owner]++] = item; });
}

}  // namespace tacos::trees
