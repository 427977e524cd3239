// SPDX-License-Identifier: MIT
// All-Reduce: the partition bound.
#pragma once

#include <optional>

#include "bound/instance.h"

namespace tacos {

struct PartitionBound {
  Certificate certificate;
  /// Whether no partition bounds the time better.
  bool exact = false;
  /// Bandwidth allows this time by packing trees (symmetric networks without switches).
  std::optional<Ticks> attainable;
};

/// `forward` is the network as it is, `reversed` with its links turned round.
[[nodiscard]] PartitionBound best_partition(const Instance& forward,
                                            const Instance& reversed,
                                            BoundEffort effort);

}  // namespace tacos
