// SPDX-License-Identifier: MIT
// All-to-All: cuts and link lengths.
#pragma once

#include <vector>

#include "bound/instance.h"

namespace tacos {

/// The best certificate found, a cut or lengths; `hint` is any cut with something to cross it.
[[nodiscard]] Certificate best_all_to_all(const Instance& instance,
                                          const std::vector<NodeId>& hint,
                                          BoundEffort effort);

}  // namespace tacos
