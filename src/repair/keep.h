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

/// Whether keeping is worth a try: not for chunks that go to everybody over direct links. There
/// starting afresh took 0.1 to 2 ms where keeping took 0.2 to 290, and its schedules took 1 to 30%
/// less time, on each of 6 networks of 8 to 256 NPUs (bench/keep_bench, docs/adr/0107).
[[nodiscard]] bool keeping_may_pay(const Bundle& bundle);

/// The transfers of a schedule that can be repaired by keeping most of them: copies, or the sums of
/// a Reduce-Scatter or a Reduce, not too many. Nothing of another. O(moves).
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
