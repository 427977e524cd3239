// SPDX-License-Identifier: MIT
// What a copying phase must do: who holds each chunk at its start, who must hold it at its end.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/collective.h"

#include "base/memory/bit_matrix.h"
#include "synthesis/common/direction.h"

namespace tacos {

/// A copying collective is one phase along the links. A reducing one is the phase of its copying
/// twin against the links, run backwards. An All-Reduce is both, each chunk by way of one NPU.
struct SpreadTask {
  std::uint32_t num_chunks = 0;
  Bytes chunk_bytes;
  /// By (NPU, chunk).
  BitMatrix held;
  BitMatrix wanted;
  /// Whether every NPU wants every chunk, so that nobody is only a relay.
  bool everyone = true;
};

[[nodiscard]] SpreadTask spread_task(const Collective& collective,
                                     Direction direction,
                                     std::uint32_t num_npus);

/// NPUs at which chunks start, an equal share of consecutive chunks each; empty when the phase has
/// another form (Gather, Scatter, All-to-All, custom).
[[nodiscard]] std::vector<NodeId> spread_owners(const Collective& collective);

}  // namespace tacos
