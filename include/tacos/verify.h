// SPDX-License-Identifier: MIT
// The referee: replays a schedule and says whether it does what the collective asks.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos {

struct VerifyOptions {
  LinkModel link_model = LinkModel::kHold;
  /// How many violations to describe; the rest are only counted.
  std::size_t max_violations = 10;
  /// What the values of reductions may take; chunks are checked a block at a time within it.
  std::size_t memory_bytes = std::size_t{1} << 30U;
  /// Never changes the result; more than one lets another thread read ahead.
  int threads = 1;
  /// Called now and then with the share of the work done, 0 to 1; may be empty.
  std::function<void(double)> progress = {};
  /// Once stop is requested, work ends soon, with kCancelled; from any thread.
  std::stop_token cancel = {};
};

struct VerifyReport {
  /// Each one sentence; empty when the schedule is valid.
  std::vector<std::string> violations;
  std::uint64_t num_violations = 0;
  std::uint64_t num_transfers = 0;
  /// When the last transfer ends, recomputed.
  Ticks collective_time;

  [[nodiscard]] bool valid() const { return num_violations == 0; }
};

/// Fails only when the schedule cannot be read or there is too little memory to replay it; a wrong
/// schedule is a report with violations.
[[nodiscard]] Result<VerifyReport> verify(const Topology& topology,
                                          const Collective& collective,
                                          const Schedule& schedule,
                                          const VerifyOptions& options = {});

}  // namespace tacos
