// SPDX-License-Identifier: MIT
// Exact cut bounds: the worst set of nodes for what must enter it.
#pragma once

#include <vector>

#include "bound/instance.h"

namespace tacos {

struct ExactCut {
  std::vector<NodeId> receivers;
  /// False when shards differ by a byte and are too large for exact arithmetic, so that they were
  /// taken as equal.
  bool exact = true;
};

/// The receiving side with the largest (bytes outside) / (bandwidth into it), among sets with
/// a participant inside and one outside. `hint` is any such set, the better the faster.
[[nodiscard]] ExactCut worst_gather_cut(const Instance& instance, const std::vector<NodeId>& hint);
/// The same among sets that contain the root: what Gather must bring in.
[[nodiscard]] ExactCut worst_gather_cut_around_root(const Instance& instance,
                                                    const std::vector<NodeId>& hint);
/// The receiving side with the least bandwidth into it, among sets with a participant but not the
/// root.
[[nodiscard]] ExactCut smallest_cut_from_root(const Instance& instance);

/// Families of cuts in O(links x speed levels): single NPUs, all but a single NPU, and the
/// components that links of at least some speed join. The one that bounds the time best.
[[nodiscard]] std::vector<NodeId> best_cheap_cut(const Instance& instance);

}  // namespace tacos
