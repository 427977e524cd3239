// SPDX-License-Identifier: MIT
// Who has and who wants each chunk of a custom collective: lists in one array each.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tacos/ids.h"

#include "base/csr.h"

namespace tacos {

/// For every chunk the numbers of some participants, increasing.
struct CustomList {
  Csr<std::uint32_t> members;

  [[nodiscard]] std::span<const std::uint32_t> of(ChunkId chunk) const {
    return members[chunk.index()];
  }
  [[nodiscard]] bool has(ChunkId chunk, std::uint32_t participant) const {
    const std::span<const std::uint32_t> list = of(chunk);
    return std::binary_search(list.begin(), list.end(), participant);
  }

  friend bool operator==(const CustomList&, const CustomList&) = default;
};

struct CustomTable {
  std::string name;
  CustomList sources;
  CustomList destinations;
  /// Of every chunk: 1 when it is a sum.
  std::vector<std::uint8_t> reduces;
  bool any_reduces = false;

  friend bool operator==(const CustomTable&, const CustomTable&) = default;
};

}  // namespace tacos
