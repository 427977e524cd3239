// SPDX-License-Identifier: MIT
// Ours and the algorithms that people know on one network: made, verified and timed by the same
// code.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tacos/bound.h"
#include "tacos/bundle.h"
#include "tacos/result.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

namespace tacos {

struct CompareOptions {
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  int effort = kDefaultEffort;
  /// Never changes the result.
  int threads = 1;
  /// Called now and then with the share of the work done, 0 to 1, by one thread at a time; may be
  /// empty.
  std::function<void(double)> progress = {};
  /// Once stop is requested, work ends soon, with kCancelled; from any thread.
  std::stop_token cancel = {};
};

/// What ours is called among them.
inline constexpr const char* kOurs = "tacos";

/// One algorithm: what it makes, or why it does not.
struct ComparedAlgorithm {
  std::string name;
  /// Verified.
  std::optional<Bundle> bundle = std::nullopt;
  std::optional<Error> failure = std::nullopt;
  /// Whether it is for other collectives.
  bool unrelated = false;
  /// Whether some route passes an NPU.
  bool forwarded = false;
  /// Mean of all links; of schedules that are too long to be simulated nobody knows.
  std::optional<double> utilization = std::nullopt;
  std::int64_t trials = 0;
  std::vector<Synthesis::Comparison> compared = {};
  /// What made it.
  int threads = 1;
  double synthesis_seconds = 0;
  double verify_seconds = 0;

  /// Of one that makes something.
  [[nodiscard]] Ticks time() const { return bundle->schedule.collective_time(); }
};

/// All algorithms, the fastest first; those that make nothing last.
struct Comparison {
  Bytes size;
  BoundReport bound;
  std::vector<ComparedAlgorithm> rows;

  [[nodiscard]] const ComparedAlgorithm& ours() const;
  /// How many times as long as ours another takes that makes something.
  [[nodiscard]] double speedup(const ComparedAlgorithm& row) const;
};

/// Ours is made for the network as given, others as if its NPUs forwarded. Fails when ours does, or
/// when a schedule is not correct.
[[nodiscard]] Result<Comparison> compare(const Topology& topology,
                                         const Problem& problem,
                                         const CompareOptions& options = {});

}  // namespace tacos
