// SPDX-License-Identifier: MIT
// A second referee, slow and obvious, to compare the first with.
#pragma once

#include <vector>

#include "tacos/collective.h"
#include "tacos/topology.h"

#include "support/listed_schedule.h"

namespace tacos::test {

/// Whether the transfers do what the collective asks. Keeps every place as the exact count of each
/// participant's contribution, and compares all pairs of transfers on a link: O(transfers^2).
[[nodiscard]] bool reference_valid(const Topology& topology,
                                   const Collective& collective,
                                   const std::vector<ListedTransfer>& transfers,
                                   LinkModel model);

}  // namespace tacos::test
