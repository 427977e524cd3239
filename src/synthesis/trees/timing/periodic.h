// SPDX-License-Identifier: MIT
// Drafts with a planned round, written down as a timetable.
#pragma once

#include "tacos/schedule.h"

#include "synthesis/trees/timing/draft.h"
#include "synthesis/trees/timing/pipeline.h"

namespace tacos::trees {

/// As many rounds as the draft's chunks make, which are a multiple of its trees.
[[nodiscard]] Schedule periodic(const PipelineTask& task, const Draft& draft);

}  // namespace tacos::trees
