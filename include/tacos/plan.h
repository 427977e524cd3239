// SPDX-License-Identifier: MIT
// Plans: a folder with the few schedules that serve all sizes of some collectives on a network, and
// an index of them, plan.json (docs/plan.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tacos/collective.h"
#include "tacos/export.h"
#include "tacos/result.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"
#include "tacos/units.h"

namespace tacos {

struct PlanOptions {
  std::vector<CollectiveName> collectives;
  /// The sizes to plan for, of whole buffers.
  Bytes least = {};
  Bytes most = {};
  /// Those that take part, increasing NPU ids, once for each group; empty: all NPUs.
  std::vector<std::vector<NodeId>> groups = {};
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  int effort = kDefaultEffort;
  /// What the schedules are written for as well, or null; only what its reader takes is planned.
  const ExportFormat* format = nullptr;
  ExportOptions exported = {};
  /// Schedules that are made at once; never changes the result.
  int threads = 1;
  /// Called now and then with the share of the work done, 0 to 1, by one thread at a time; may be
  /// empty.
  std::function<void(double)> progress = {};
  /// Once stop is requested, work ends soon, with kCancelled; from any thread.
  std::stop_token cancel = {};
};

/// What a schedule takes at one size, beside what no schedule can beat.
struct PlanPoint {
  Bytes size;
  Ticks time;
  Ticks bound;

  friend bool operator==(const PlanPoint&, const PlanPoint&) = default;
};

/// A schedule, and what it is for.
struct PlanEntry {
  CollectiveKind kind = CollectiveKind::kAllGather;
  /// Of collectives that have one.
  std::optional<NodeId> root;
  std::vector<NodeId> participants;
  /// The sizes that it serves, both included.
  Bytes least;
  Bytes most;
  /// In the folder.
  std::string file;
  /// The same for the reader of the plan's format; empty without one.
  std::string exported;
  std::string engine;
  CollectiveForm form = CollectiveForm::kDirect;
  /// As `--chunks` counts them.
  std::int64_t chunks = 1;
  /// At the powers of two of its range, and where the plan begins and ends.
  std::vector<PlanPoint> points;

  friend bool operator==(const PlanEntry&, const PlanEntry&) = default;
};

struct Plan {
  /// Its name; equal networks have equal hashes.
  std::string network;
  std::uint64_t network_hash = 0;
  std::uint32_t npus = 0;
  LinkModel link_model = LinkModel::kHold;
  std::uint64_t seed = 1;
  int effort = kDefaultEffort;
  /// The name of a format, or empty.
  std::string format;
  Bytes least;
  Bytes most;
  /// By group and collective, as they were asked for, the smallest sizes first.
  std::vector<PlanEntry> entries;

  friend bool operator==(const Plan&, const Plan&) = default;
};

/// At every power of two of the range a schedule of the plan takes at most so much longer than the
/// best that was found for that size, in percent.
inline constexpr int kPlanSlackPercent = 3;

/// The file that a folder has when it is a plan.
inline constexpr const char* kPlanIndex = "plan.json";

/// Makes a plan in a folder, which is put in its place when complete: what was there must have been
/// a plan. What was made is kept beside it meanwhile, and used by the same call after an
/// interruption.
[[nodiscard]] Result<Plan> make_plan(const Topology& topology,
                                     const PlanOptions& options,
                                     const std::string& folder);

/// The index of a plan; fails where a file that it names is missing.
[[nodiscard]] Result<Plan> read_plan(const std::string& folder);

}  // namespace tacos
