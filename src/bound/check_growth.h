// SPDX-License-Identifier: MIT
// The part of check_certificate that is about growth.
#pragma once

#include "tacos/bound.h"

namespace tacos {

/// O(steps^2 x links x NPUs): for networks of up to some hundreds of NPUs.
[[nodiscard]] Result<Ticks> check_growth(const Topology& topology,
                                         const Collective& collective,
                                         const Certificate& certificate);

}  // namespace tacos
