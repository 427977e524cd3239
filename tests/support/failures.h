// SPDX-License-Identifier: MIT
// Shorthand for tests that break networks and repair schedules.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tacos/bound.h"
#include "tacos/bundle.h"
#include "tacos/repair.h"
#include "tacos/verify.h"

#include "base/numbers/rng.h"
#include "support/problems.h"

namespace tacos::testing {

[[nodiscard]] inline Bundle bundle_of(const Topology& topology,
                                      const Problem& problem,
                                      const SynthesisOptions& options = {}) {
  Synthesis made = synthesize_verified(topology, problem, options);
  return {.topology = topology,
          .collective = *std::move(made.collective),
          .link_model = options.link_model,
          .schedule = *std::move(made.schedule),
          .engine = made.engine,
          .seed = options.seed};
}

[[nodiscard]] inline Repairer repairer_of(Bundle bundle) {
  Result<Repairer> made = Repairer::make(std::move(bundle));
  EXPECT_TRUE(made) << made.error().to_string();
  return *std::move(made);
}

/// The schedule verifies, and is no faster than the bound.
inline void expect_right(const Bundle& bundle) {
  const Result<VerifyReport> report = verify(
      bundle.topology, bundle.collective, bundle.schedule, {.link_model = bundle.link_model});
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_TRUE(report->valid()) << report->violations.front();
  const Result<BoundReport> bound =
      compute_bounds(bundle.topology, bundle.collective, {.link_model = bundle.link_model});
  ASSERT_TRUE(bound);
  EXPECT_LE(bound->best.time, bundle.schedule.collective_time());
}

/// One to three failures of any kind, of different parts of the network.
[[nodiscard]] inline std::vector<std::string> any_failures(const Topology& topology, Rng& rng) {
  std::vector<std::string> failures;
  std::vector<std::pair<NodeId, NodeId>> taken;
  for (std::uint32_t i = 0; i <= rng.below(3); ++i) {
    const Link& link = topology.link(LinkId(rng.below(topology.num_links())));
    const auto ends = std::minmax(link.src, link.dst);
    if (std::find(taken.begin(), taken.end(), std::pair(ends.first, ends.second)) != taken.end()) {
      continue;
    }
    taken.emplace_back(ends.first, ends.second);
    const std::uint32_t a = link.src.value();
    const std::uint32_t b = link.dst.value();
    switch (rng.below(6)) {
      case 0:
        failures.push_back(fmt::format("slow:{}-{}=0.3", a, b));
        break;
      case 1:
        failures.push_back(fmt::format("link:{}-{}", a, b));
        break;
      default:
        failures.push_back(fmt::format("link:{}>{}", a, b));
    }
  }
  if (rng.below(4) == 0) {
    failures.push_back(fmt::format("npu:{}", rng.below(topology.num_npus())));
  }
  return failures;
}

}  // namespace tacos::testing
