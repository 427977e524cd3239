// SPDX-License-Identifier: MIT
// What a repaired schedule has other than the one that was, small enough to be kept for every
// failure: transfers that are left out, those that take their places, and how times are decided
// (docs/repair.md). Applied to the schedule that was it gives the same bytes. O(transfers).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/ids.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "repair/reroute.h"

namespace tacos::repairing {

/// How planned transfers get their times.
enum class Timing {
  kInOrder,  ///< every link takes them as planned (replay/retime.h)
  kListed,   ///< what can start first goes first (replay/message_scheduler.h)
};

struct Difference {
  struct Added {
    /// Among all transfers of the result.
    std::uint32_t position = 0;
    std::vector<LinkId> links;
    std::vector<ChunkId> chunks;

    friend bool operator==(const Added&, const Added&) = default;
  };
  /// Of those that were, by their place; increasing.
  std::vector<std::uint32_t> dropped;
  /// By position.
  std::vector<Added> added;
  Timing timing = Timing::kInOrder;
  /// Of the schedule, to be sure.
  std::uint64_t schedule_hash = 0;
  std::uint64_t kept_transfers = 0;
  std::uint64_t new_transfers = 0;

  friend bool operator==(const Difference&, const Difference&) = default;
};

/// Without what is known only once there are times.
[[nodiscard]] Difference difference_of(const Copies& before, const Rerouted& after);
/// The transfers of the repaired schedule in the order in which they are planned.
[[nodiscard]] TransferBatch applied(const Copies& before, const Difference& difference);

[[nodiscard]] std::string to_text(const Difference& difference);
/// Fails where it cannot be one of the copies on this network. `where` names the text in errors.
[[nodiscard]] Result<Difference> parse_difference(std::string_view text,
                                                  const std::string& where,
                                                  const Topology& topology,
                                                  const Copies& before);

}  // namespace tacos::repairing
