// SPDX-License-Identifier: MIT
// When something of a network fails, or works again: a schedule for the network as it is now
// (docs/repair.md).
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/result.h"
#include "tacos/units.h"

namespace tacos {

/// What has happened since a schedule was made. What is restored comes first; failures are about
/// the network after that.
struct NetworkChange {
  /// As for apply_failures.
  std::vector<std::string> failures = {};
  /// Failures that the network has: `link:3-4`, `link:3>4`, `npu:5`, `slow:3-4`.
  std::vector<std::string> restored = {};
};

/// Where the transfers of a repaired schedule come from.
enum class RepairWay {
  kBest,   ///< whichever is faster; the first of those below that is 2% slower than before at most
  kKeep,   ///< the schedule that was, its broken transfers over other links, where that can be done
  kFresh,  ///< a synthesis at the least effort
};

struct RepairOptions {
  RepairWay way = RepairWay::kBest;
  /// Whether to say what differs from the schedule that was, where most of it is kept.
  bool with_difference = false;
  /// Never changes the result.
  int threads = 1;
  /// Once stop is requested, work ends soon, with kCancelled; from any thread.
  std::stop_token cancel = {};
};

struct Repair {
  /// The network as it is now, who is left of the participants, and their schedule; not verified.
  Bundle bundle;
  /// Transfers that still take their chunks over the same links, and all others. A fresh schedule
  /// keeps none.
  std::uint64_t kept_transfers = 0;
  std::uint64_t new_transfers = 0;
  /// For `rebuild`; empty where it was not asked for, or less is kept than new.
  std::string difference = {};
};

/// How a schedule goes on that a failure has interrupted.
enum class Resumption {
  kContinued,  ///< with the transfers that were left, those that are broken over other links
  kReplanned,  ///< from what was where, with other transfers
  kRestarted,  ///< from the beginning
};
[[nodiscard]] std::string_view to_string(Resumption resumption);

/// A schedule for what a failure has left to do.
struct ResumedSchedule {
  /// Of a custom collective, what was where and must be where, unless it is restarted.
  Repair repair;
  /// The time of the schedule that was at which this one begins: that of the failure, or the start
  /// of the first transfer that was under way then and goes on.
  Ticks begins;
  Resumption resumption = Resumption::kContinued;
  /// Chunks that had been moved, that were under way and counted when they arrived, and that were
  /// under way over links that failed.
  std::uint64_t arrived_moves = 0;
  std::uint64_t under_way_moves = 0;
  std::uint64_t lost_moves = 0;
  /// Sums of which some shares are taken from the inputs again, since others were added to them of
  /// an NPU that is gone.
  std::uint32_t restarted_sums = 0;

  /// When all is finished, counted from the beginning of the schedule that was.
  [[nodiscard]] Ticks end() const { return begins + repair.bundle.schedule.collective_time(); }
};

/// A schedule, and what it takes to repair it at once.
class Repairer {
 public:
  /// Fails where the schedule cannot be read.
  [[nodiscard]] static Result<Repairer> make(Bundle bundle);

  /// NPUs that failed leave the collective, and those that are restored join it again where all
  /// that work take part; the buffer keeps its size. Fails with kInfeasible where participants are
  /// cut off from each other, and where the root of a collective or an NPU that a collective from a
  /// file names has failed.
  [[nodiscard]] Result<Repair> repair(const NetworkChange& change,
                                      const RepairOptions& options = {}) const;

  /// The same schedule for the same change from what it differed in, which `where` names in errors.
  [[nodiscard]] Result<Repair> rebuild(const NetworkChange& change,
                                       std::string_view difference,
                                       const std::string& where) const;

  /// The same for a failure that strikes at a time while the schedule runs: what has arrived by
  /// then counts, what is under way over links that work does when it arrives, the rest is planned
  /// from that state; kKeep never restarts, kFresh does nothing else. Fails when it is over by
  /// then, and when something is restored.
  [[nodiscard]] Result<ResumedSchedule> repair_at(Ticks at,
                                                  const NetworkChange& change,
                                                  const RepairOptions& options = {}) const;

  /// What it repairs.
  [[nodiscard]] const Bundle& bundle() const;

 private:
  struct Index;
  [[nodiscard]] Result<Repair> repair_now(const NetworkChange& change,
                                          const RepairOptions& options) const;
  [[nodiscard]] Result<ResumedSchedule> repair_at_now(Ticks at,
                                                      const NetworkChange& change,
                                                      const RepairOptions& options) const;
  explicit Repairer(std::shared_ptr<const Index> index) : index_(std::move(index)) {}

  std::shared_ptr<const Index> index_;
};

}  // namespace tacos
