// SPDX-License-Identifier: MIT
// What a machine makes of a schedule: the order of its transfers without their times.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "tacos/collective.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

namespace tacos {

struct SimulationOptions {
  LinkModel link_model = LinkModel::kHold;
  /// The network instead of the one that was planned for: the same links, other speeds. Null: as
  /// planned.
  const Topology* topology = nullptr;
  /// The same chunks of another buffer. Null: as planned.
  const Collective* collective = nullptr;
  /// Whether to find the critical path: 16 bytes a transfer, 8 for each (NPU, chunk).
  bool critical_path = true;
  /// Whether to keep the transfers with their times.
  bool schedule = false;
  /// Never changes the result.
  int threads = 1;
  /// Called now and then with the share of the work done, 0 to 1; may be empty.
  std::function<void(double)> progress = {};
  /// Once stop is requested, work ends soon, with kCancelled; from any thread.
  std::stop_token cancel = {};
};

/// One transfer of the chain that decides when the last one ends.
struct CriticalStep {
  enum class Wait { kNothing, kData, kLink };
  /// Position in the schedule.
  std::uint64_t number = 0;
  Ticks start = {};
  Ticks end = {};
  std::vector<LinkId> links = {};
  /// The first of those that it carries.
  ChunkId chunk = {};
  /// What it waited for last: the data that the step before it brought, or a link that the step
  /// before it was using.
  Wait wait = Wait::kNothing;
};

/// The steps one after the other, and what their time is made of: the way of those that bring what
/// the next one sends, and the time that others stood behind one on a link.
struct CriticalPath {
  std::vector<CriticalStep> steps;
  Ticks latency;
  Ticks serialization;
  Ticks waiting;
};

struct Simulation {
  /// When the last transfer ends.
  Ticks time;
  std::uint64_t transfers = 0;
  /// By link: how long it was busy.
  std::vector<Ticks> busy;
  /// Empty when it was not asked for.
  CriticalPath critical_path;
  /// The transfers with their times, when they were asked for.
  std::optional<Schedule> schedule;

  [[nodiscard]] double utilization(LinkId link) const {
    return time.ps == 0 ? 0
                        : static_cast<double>(busy[link.index()].ps) / static_cast<double>(time.ps);
  }
  /// Mean over the links that work.
  [[nodiscard]] double utilization(const Topology& topology) const;
};

/// Every link keeps its order and sends as soon as its input is there and it is free, in the link
/// model of the options. Fails when the schedule cannot be read, takes a link that has failed, or
/// takes more memory than there is. The schedule must be one that `verify` accepts.
[[nodiscard]] Result<Simulation> simulate(const Topology& topology,
                                          const Collective& collective,
                                          const Schedule& schedule,
                                          const SimulationOptions& options = {});

/// How brittle a schedule is.
struct Jitter {
  /// Every transfer takes up to so much longer, by chance.
  double percent = 0;
  std::uint64_t seed = 1;
  int draws = 32;
};

/// The times of all draws, increasing.
[[nodiscard]] Result<std::vector<Ticks>> simulate_jitter(const Topology& topology,
                                                         const Collective& collective,
                                                         const Schedule& schedule,
                                                         const Jitter& jitter,
                                                         const SimulationOptions& options = {});

}  // namespace tacos
