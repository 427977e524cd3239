// SPDX-License-Identifier: MIT
// What NPUs keep on behalf of others while a schedule runs.
#pragma once

#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"
#include "tacos/units.h"

namespace tacos::replay {

/// The most that one NPU needs beside its input and output: of a gathered collective a place for
/// every contribution, else the chunks that it passes on and neither begins nor ends with. A chunk
/// counts once, and until the end: who runs the schedule may let places be used again.
/// O(transfers), with a bit for each NPU and chunk; nothing is read where nobody relays.
[[nodiscard]] Result<Bytes> scratch_of(const Topology& topology,
                                       const Collective& collective,
                                       const Schedule& schedule,
                                       int threads);

}  // namespace tacos::replay
