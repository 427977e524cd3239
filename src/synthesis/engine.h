// SPDX-License-Identifier: MIT
// What every synthesis engine is to the driver: a function from a problem to a candidate.
#pragma once

#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

namespace tacos {

/// A schedule and the collective, chunk count decided, that it is for.
struct Candidate {
  Collective collective;
  Schedule schedule;
  std::int64_t trials = 1;
};

/// Engines are called only on feasible problems of two or more participants.
using Engine = Result<Candidate> (*)(const Topology& topology,
                                     const Problem& problem,
                                     const SynthesisOptions& options);

}  // namespace tacos
