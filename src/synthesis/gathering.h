// SPDX-License-Identifier: MIT
// All-Reduce and Reduce in their gathered form: what the engines make of the contributions.
#pragma once

#include "tacos/result.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "synthesis/common/engine.h"

namespace tacos {

/// To bring every contribution, as it is, to those who add: an All-Gather or a Gather of one buffer
/// for each participant. Fails where there is nothing to add, or more bytes than can be counted.
[[nodiscard]] Result<Problem> contributions_of(const Problem& problem);

/// Whether they may be there before `reached`: not when a bound says otherwise.
[[nodiscard]] bool may_gather_within(const Topology& topology,
                                     const Problem& problem,
                                     LinkModel model,
                                     Ticks reached);

/// What was made for the contributions, as the gathered form of the problem.
[[nodiscard]] Result<Synthesis> as_gathered(const Problem& problem, Synthesis made);

}  // namespace tacos
