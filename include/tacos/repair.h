// SPDX-License-Identifier: MIT
// When something of a network fails, or works again: a schedule for the network as it is now
// (docs/repair.md).
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "tacos/bundle.h"
#include "tacos/result.h"

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

  /// What it repairs.
  [[nodiscard]] const Bundle& bundle() const;

 private:
  struct Index;
  [[nodiscard]] Result<Repair> repair_now(const NetworkChange& change,
                                          const RepairOptions& options) const;
  explicit Repairer(std::shared_ptr<const Index> index) : index_(std::move(index)) {}

  std::shared_ptr<const Index> index_;
};

}  // namespace tacos
