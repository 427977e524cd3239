// SPDX-License-Identifier: MIT
// The lanes of all NPUs in one row, and which of them are the two ends of a FIFO.
#pragma once

#include <cstddef>
#include <vector>

#include "tacos/program.h"

namespace tacos {

struct LanePeers {
  static constexpr std::size_t kNobody = ~std::size_t{0};
  /// By NPU: its first lane in the row.
  std::vector<std::size_t> first;
  /// By lane of the row: the other end of its FIFO; kNobody for local work, and where there is
  /// none.
  std::vector<std::size_t> peer;
};

/// O(lanes log lanes).
[[nodiscard]] LanePeers lane_peers(const Program& program);

}  // namespace tacos
