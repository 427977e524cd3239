// SPDX-License-Identifier: MIT
// Repairs that keep what still holds of a schedule.
#pragma once

#include <cstdint>
#include <optional>

#include "tacos/bundle.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"

#include "repair/difference.h"
#include "repair/reroute.h"

namespace tacos::repairing {

struct KeptSchedule {
  Schedule schedule;
  Rerouted rerouted;
  Timing timing = Timing::kInOrder;

  /// From the schedule that was.
  [[nodiscard]] Difference difference(const Copies& before) const;
};

/// The transfers of a schedule that can be repaired by keeping most of them: copies, or the sums of
/// a Reduce-Scatter or a Reduce, not too many. Nothing of another, and
/// where a fresh schedule is made in less time and no slower. O(moves).
[[nodiscard]] Result<std::optional<Copies>> copies_of(const Bundle& bundle);

/// The schedule on the network as it is now, with the same participants; nothing where it cannot be
/// kept. O(transfers log transfers).
[[nodiscard]] std::optional<KeptSchedule> keep(const Bundle& before,
                                               const Copies& copies,
                                               const Topology& now);

/// The same from what it differed in; fails where that was not made for this.
[[nodiscard]] Result<Schedule> rebuild(const Bundle& before,
                                       const Copies& copies,
                                       const Topology& now,
                                       const Difference& difference);

}  // namespace tacos::repairing
