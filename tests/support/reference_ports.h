// SPDX-License-Identifier: MIT
// Matching through ports as its rules say, looking at everything every time: the oracle for the
// fast one.
#pragma once

#include <optional>

#include "synthesis/matching/ports/port_matcher.h"

namespace tacos::testing {

/// The transfers that matching::match_ports makes. O(events x in-links x sources x chunks).
[[nodiscard]] std::optional<TransferBatch> reference_match_ports(
    const Topology& topology, const SpreadTask& task, const matching::PortOptions& options);

}  // namespace tacos::testing
