// SPDX-License-Identifier: MIT
// How a collective gets slower as more and more links of a network fail (docs/repair.md).
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <vector>

#include "tacos/result.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

namespace tacos {

struct ResilienceOptions {
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  int effort = kLeastEffort;
  /// In how many ways links are made to fail, for each share of them.
  std::uint32_t draws = 5;
  /// Draws that are looked at at once; never changes the result.
  int threads = 1;
  /// Called now and then with the share of the work done, 0 to 1, by one thread at a time; may be
  /// empty.
  std::function<void(double)> progress = {};
  /// Once stop is requested, work ends soon, with kCancelled; from any thread.
  std::stop_token cancel = {};
};

/// What is left when a share of the cables (both directions, all parallel links) has failed.
struct ResilienceRow {
  std::uint32_t failed_percent = 0;
  std::uint32_t failed_cables = 0;
  /// Draws after which participants still reach each other; the times are of those.
  std::uint32_t connected = 0;
  /// Draws that were given up, since they cut participants off however often they were repeated.
  std::uint32_t cut_off = 0;
  Ticks mean_time;
  Ticks worst_time;
  Ticks mean_bound;
};

/// Of the whole network, then with 1, 2, 5 and 10% of its cables failed, at least one. All
/// schedules are verified.
[[nodiscard]] Result<std::vector<ResilienceRow>> measure_resilience(
    const Topology& topology, const Problem& problem, const ResilienceOptions& options = {});

}  // namespace tacos
