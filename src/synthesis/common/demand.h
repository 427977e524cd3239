// SPDX-License-Identifier: MIT
// All-to-All, Gather and Scatter are the same to routing: messages, each from one NPU to another.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/collective.h"

namespace tacos {

/// Two NPUs and the first of the chunks that go from one to the other.
struct Pair {
  NodeId from;
  NodeId to;
  ChunkId first_chunk;
};

/// Every pair has equally many chunks. A message is one chunk on its way: message m is chunk
/// m % chunks_per_pair of pair m / chunks_per_pair.
struct Demand {
  /// Sorted by source, except that Gather's have one destination instead.
  std::vector<Pair> pairs;
  std::uint32_t chunks_per_pair = 1;
  /// All chunks are planned as if they had the size of the largest.
  Bytes chunk_bytes;

  [[nodiscard]] std::uint32_t num_messages() const {
    return static_cast<std::uint32_t>(pairs.size()) * chunks_per_pair;
  }
  [[nodiscard]] const Pair& pair(std::uint32_t message) const {
    return pairs[message / chunks_per_pair];
  }
  [[nodiscard]] ChunkId chunk(std::uint32_t message) const {
    return ChunkId(pair(message).first_chunk.value() + message % chunks_per_pair);
  }
};

/// The collective must be an All-to-All, a Gather or a Scatter.
[[nodiscard]] Demand make_demand(const Collective& collective);

/// The same messages from their destinations to their sources.
[[nodiscard]] Demand reversed(Demand demand);

}  // namespace tacos
