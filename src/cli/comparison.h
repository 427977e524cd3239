// SPDX-License-Identifier: MIT
// Ours and the algorithms that people know on one network: made, verified and timed by the same
// code.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tacos/bound.h"
#include "tacos/result.h"
#include "tacos/topology.h"

#include "cli/outcome.h"
#include "cli/task.h"

namespace tacos::cli {

/// One algorithm at one size: what it makes, or why it does not.
struct Entry {
  std::string algorithm;
  std::optional<Outcome> outcome = std::nullopt;
  std::optional<Error> failure = std::nullopt;
  /// Whether it is for other collectives.
  bool unrelated = false;
  /// Whether some route passes an NPU.
  bool forwarded = false;
  /// Mean of all links; of schedules that are too long to be simulated nobody knows.
  std::optional<double> utilization = std::nullopt;

  /// Of one that makes something.
  [[nodiscard]] Ticks time() const { return outcome->bundle.schedule.collective_time(); }
};

/// All algorithms at one size, the fastest first; those that make nothing last.
struct Round {
  Bytes size;
  BoundReport bound;
  std::vector<Entry> entries;
};

struct ComparisonOptions {
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  /// Never changes the result.
  int threads = 1;
};

class Comparison {
 public:
  Comparison(Task task, const ComparisonOptions& options)
      : options_(options),
        task_(std::move(task)),
        forwarding_(task_.topology.with_forwarding(true)) {}

  /// Ours is made for the network as given, others as if its NPUs forwarded. Fails when ours does.
  [[nodiscard]] Result<Round> run(Bytes size) const;

 private:
  void fill(Entry& entry, Bytes size, int threads) const;
  [[nodiscard]] Status try_fill(Entry& entry, Bytes size, int threads) const;

  ComparisonOptions options_;
  Task task_;
  /// What baselines are made for.
  Topology forwarding_;
};

}  // namespace tacos::cli
