// SPDX-License-Identifier: MIT
// What-ifs as people say them: a schedule on a network, or of a buffer, other than it was made for.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/simulate.h"
#include "tacos/topology.h"

namespace tacos {

struct WhatIf {
  /// Nothing: as planned.
  std::optional<LinkModel> link_model = std::nullopt;
  std::optional<std::string> size = std::nullopt;
  /// What is left of bandwidths, such as `3-4=0.5`.
  std::vector<std::string> slow = {};
  Jitter jitter = {};
};

/// What a schedule is simulated with, in place of what it was made for.
struct Scenario {
  Topology topology;
  Collective collective;
  LinkModel link_model = LinkModel::kHold;
};
[[nodiscard]] Result<Scenario> make_scenario(Scenario planned, const WhatIf& what_if);

struct Findings {
  Simulation simulation;
  /// Of the simulation, not of the draws.
  double seconds = 0;
  /// Of all draws, increasing; empty without jitter.
  std::vector<Ticks> jittered;
};
/// The schedule must be one that `verify` accepts. Of the options those of the scenario are set
/// here.
[[nodiscard]] Result<Findings> play(const Scenario& planned,
                                    const Schedule& schedule,
                                    const Scenario& scenario,
                                    const WhatIf& what_if,
                                    SimulationOptions options);

/// "nothing", "data" or "link".
[[nodiscard]] std::string_view to_string(CriticalStep::Wait wait);

}  // namespace tacos
