// SPDX-License-Identifier: MIT
// Shorthand for tests that synthesize.
#pragma once

#include <gtest/gtest.h>

#include "tacos/bound.h"
#include "tacos/synthesize.h"
#include "tacos/verify.h"

namespace tacos::testing {

inline constexpr std::int64_t kKiB = 1LL << 10U;
inline constexpr std::int64_t kMiB = 1LL << 20U;
inline constexpr std::int64_t kGiB = 1LL << 30U;

[[nodiscard]] inline Topology network(const std::string& spec) {
  Result<Topology> topology = parse_topology_spec(spec);
  EXPECT_TRUE(topology) << topology.error().to_string();
  return *std::move(topology);
}

[[nodiscard]] inline Problem problem(const Topology& topology,
                                     CollectiveKind kind,
                                     std::int64_t size,
                                     std::optional<std::int64_t> chunks = std::nullopt) {
  Problem made{.kind = kind, .size = {size}, .chunks = chunks, .participants = {}, .root = {}};
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    made.participants.emplace_back(npu);
  }
  return made;
}

/// Synthesizes, verifies and compares with the bound; every schedule in every test comes through
/// here.
[[nodiscard]] inline Synthesis synthesize_verified(const Topology& topology,
                                                   const Problem& problem,
                                                   const SynthesisOptions& options = {}) {
  Result<Synthesis> made = synthesize(topology, problem, options);
  EXPECT_TRUE(made) << made.error().to_string();
  if (made->status == SynthesisStatus::kFeasible) {
    const Result<VerifyReport> report =
        verify(topology, *made->collective, *made->schedule, {.link_model = options.link_model});
    EXPECT_TRUE(report) << report.error().to_string();
    EXPECT_TRUE(report->valid()) << report->violations.front();
    const Result<BoundReport> bound =
        compute_bounds(topology, *made->collective, {.link_model = options.link_model});
    EXPECT_TRUE(bound) << bound.error().to_string();
    EXPECT_LE(bound->best.time, made->schedule->collective_time());
  }
  return *std::move(made);
}

}  // namespace tacos::testing
