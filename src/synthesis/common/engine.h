// SPDX-License-Identifier: MIT
// What every synthesis engine is to the driver: a function from a problem to a candidate.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

namespace tacos {

class Team;

/// A schedule and the collective, chunk count decided, that it is for.
struct Candidate {
  Collective collective;
  Schedule schedule;
  std::int64_t trials = 1;
};

/// What an engine says when it finds nothing within kMaxTime.
[[nodiscard]] inline Error takes_too_long(std::string network = {}) {
  return input_error(
      "the collective would take longer than 53 days; use a smaller size or leave slow links out",
      std::move(network));
}

struct EngineOptions : SynthesisOptions {
  /// Of two or more, who all call with the same arguments; never changes the result. The first gets
  /// it, the others a schedule that they may have a share of and must help to read
  /// (TransferSource::read_together). Null: this process alone.
  Team* team = nullptr;
  /// What another engine has reached: what cannot be faster may be given up, as an error.
  std::optional<Ticks> beat = std::nullopt;
  /// What is hardly above a bound: whoever is as fast need not look further.
  Ticks suffices{};
};

/// Engines are called only on feasible problems of two or more participants that check_times lets
/// pass. The driver refuses what lasts longer than kMaxTime.
using Engine = Result<Candidate> (*)(const Topology& topology,
                                     const Problem& problem,
                                     const EngineOptions& options);

}  // namespace tacos
