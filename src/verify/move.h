// SPDX-License-Identifier: MIT
// The least that the data need to know of a transfer.
#pragma once

#include <cstdint>

#include "tacos/ids.h"

namespace tacos {

/// Of a chunk, over one link.
struct Move {
  NodeId src;
  NodeId dst;
  ChunkId chunk;
  /// Which of the times of the WireTable it takes.
  std::uint32_t duration = 0;
};

}  // namespace tacos
