// SPDX-License-Identifier: MIT
// Replays a schedule on several threads, or by several processes, to find out whether it is right.
#pragma once

#include <cstdint>
#include <optional>

#include "tacos/collective.h"
#include "tacos/schedule.h"
#include "tacos/verify.h"

#include "base/parallel/team.h"
#include "verify/in_order.h"
#include "verify/wire_table.h"

namespace tacos {

/// How the work is cut; never changes the result.
struct SliceOptions {
  /// Shorter schedules are not worth it.
  std::uint64_t least_transfers = std::uint64_t{1} << 17U;
  /// What is read at once, at most: the longer, the more a slice finds in its buckets when its turn
  /// comes. On 19,600 NPUs 2^22 took 6.5 s, 2^23 6.0, 2^24 5.9; 2^19 half as long again.
  std::uint64_t stretch = std::uint64_t{1} << 23U;
  /// So many slices for each thread at least, so that they end together.
  std::uint32_t slices_per_thread = 3;
  /// What the data of a slice should not exceed, to stay near the core that works on it.
  std::uint64_t slice_bytes = std::uint64_t{1} << 20U;
};

/// What was counted when everything is right. Nothing when something is not, or could not be told:
/// replay_in_order says what. All members of a team call it with the same arguments, but each with
/// what it holds of the schedule, and get the same answer.
[[nodiscard]] std::optional<Counts> replay_in_slices(const WireTable& table,
                                                     const Collective& collective,
                                                     const Schedule& schedule,
                                                     const VerifyOptions& options,
                                                     const SliceOptions& cut,
                                                     Team& team);

}  // namespace tacos
