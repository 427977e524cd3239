// SPDX-License-Identifier: MIT
// A schedule read link by link: what each of them carries, one chunk at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/ids.h"
#include "tacos/schedule.h"
#include "tacos/units.h"

namespace tacos {

/// What a link carries, in start order. Times are steps.
struct LinkList {
  /// Transfers of which each starts a period after the one before.
  struct Run {
    /// When the first one starts.
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  std::vector<Run> runs;
  std::uint64_t period = 1;
  /// Of all runs.
  std::vector<ChunkId> chunks;
};

/// Of all links: together they are the transfers of the schedule, each once.
class LinkLists {
 public:
  /// Step s is at begin + s * unit, and nothing ends after step `end`.
  struct Clock {
    Ticks begin;
    Ticks unit;
    std::uint64_t end = 0;
  };

  LinkLists() = default;
  LinkLists(const LinkLists&) = delete;
  LinkLists& operator=(const LinkLists&) = delete;
  virtual ~LinkLists() = default;

  [[nodiscard]] virtual Clock clock() const = 0;
  /// Of all transfers.
  [[nodiscard]] virtual Op op() const = 0;
  /// All ids are below.
  [[nodiscard]] virtual std::uint32_t num_links() const = 0;
  /// Replaces the list by that of a link; from any thread.
  virtual void read(LinkId link, LinkList& list) const = 0;
};

}  // namespace tacos
