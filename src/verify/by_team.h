// SPDX-License-Identifier: MIT
// Verification by several processes.
#pragma once

#include "tacos/verify.h"

#include "base/parallel/team.h"
#include "verify/in_slices.h"

namespace tacos {

/// As verify() of the library, by all members of the team together. Each calls it, with what it
/// holds of the schedule, and gets the same report.
[[nodiscard]] Result<VerifyReport> verify_by_team(const Topology& topology,
                                                  const Collective& collective,
                                                  const Schedule& schedule,
                                                  const VerifyOptions& options,
                                                  Team& team,
                                                  const SliceOptions& cut = {});

}  // namespace tacos
