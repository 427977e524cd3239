// SPDX-License-Identifier: MIT
// Motifs what the chunks of one NPU do on a network that looks the same from every NPU.
#pragma once

#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/synthesize.h"

#include "synthesis/symmetric/moves.h"

namespace tacos::symmetric {

/// With as many chunks as the problem asks for, or as many as are best. The problem is an
/// All-Gather, Reduce-Scatter or All-Reduce of all NPUs; fails when it would take too long or when
/// its chunks cannot be made.
[[nodiscard]] Result<Motif> make_motif(const Moves& moves,
                                       const Problem& problem,
                                       LinkModel link_model);

}  // namespace tacos::symmetric
