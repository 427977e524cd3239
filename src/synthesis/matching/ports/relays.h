// SPDX-License-Identifier: MIT
// When an NPU that does not want a chunk should take it all the same, to pass it on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/schedule.h"

#include "base/memory/bit_matrix.h"
#include "synthesis/common/spread_task.h"
#include "synthesis/matching/ports/port_network.h"

namespace tacos::matching {

/// Only when it is nearer to some NPU that still lacks the chunk than everybody who has it or is
/// getting it. Each such step shortens a distance, so chunks arrive and few relays carry one in
/// vain.
class Relays {
 public:
  /// Keeps nothing when everyone wants everything.
  Relays(const SpreadTask& task, const PortNetwork& network);

  /// The chunk is on its way to the NPU.
  void claim(std::uint32_t npu, std::uint32_t chunk);
  [[nodiscard]] bool useful(std::uint32_t npu, std::uint32_t chunk) const;

 private:
  std::uint32_t num_npus_ = 0;
  /// Time for one chunk from NPU to NPU, by (from, to).
  std::vector<std::int64_t> distance_;
  /// By (chunk, NPU): wants it and is not being sent it.
  BitMatrix lacking_;
  /// By (chunk, NPU): distance from the nearest claimant.
  std::vector<std::int64_t> nearest_;
};

/// Leaves out what was brought to a relay that never passed it on. `transfers` is in start order.
[[nodiscard]] TransferBatch without_vain_relays(const TransferBatch& transfers,
                                                const SpreadTask& task,
                                                const PortNetwork& network);

}  // namespace tacos::matching
