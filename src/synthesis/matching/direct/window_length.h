// SPDX-License-Identifier: MIT
// How much time to decide at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers/wide.h"
#include "synthesis/matching/direct/arrival_log.h"
#include "synthesis/matching/direct/gather_network.h"

namespace tacos::matching {

class WindowLength {
 public:
  WindowLength(const GatherNetwork& network, const GatherTask& task, std::uint64_t seed);

  struct Length {
    GridTime time = 1;
    /// So short that it must be known when each entry came, and not only in which window.
    bool exact = false;
  };
  /// Of the window from `now` on, when all will be done at `finish` if no link pauses any more.
  [[nodiscard]] Length next(GridTime now, GridTime finish);

  /// When an NPU that lacks so many chunks will have them if its links do not pause.
  [[nodiscard]] GridTime finish(std::uint32_t npu, std::uint32_t lacking, GridTime now) const {
    constexpr UInt128 kMost = ~GridTime{0} / 4;
    const UInt128 takes = UInt128{lacking} * chunk_time_[npu] >> kFractionBits;
    return now + static_cast<GridTime>(std::min(takes, kMost));
  }

  /// When all is done at best.
  [[nodiscard]] GridTime least() const { return least_; }
  /// How long an exact window is.
  [[nodiscard]] GridTime shortest() const { return shortest_; }

 private:
  /// Of a unit of time.
  static constexpr unsigned kFractionBits = 16;

  [[nodiscard]] GridTime ahead_of_demand(GridTime now);
  /// In which an NPU takes in so many chunks, summed over the sampled NPUs.
  [[nodiscard]] GridTime demand_time(std::uint64_t chunks) const;

  /// How many chunks begin within so many hops of an NPU, summed over a few sampled NPUs.
  std::vector<std::uint64_t> ball_;
  std::size_t radius_ = 0;
  /// Times in which one chunk comes, in fractions of the unit: per NPU, of all NPUs on average, and
  /// of the slowest.
  std::vector<std::uint64_t> chunk_time_;
  std::uint64_t average_ = 1;
  std::uint64_t slowest_ = 1;
  GridTime shortest_ = 1;
  GridTime longest_ = 1;
  GridTime least_ = 0;
  GridTime max_delay_;
  /// How many times as fast as R news must move.
  std::uint64_t margin_;
  /// Whether windows are stretched, by how much, and what the finish was before the last.
  bool stretches_ = false;
  std::uint64_t stretch_;
  GridTime last_finish_ = 0;
  bool uniform_;
  /// Whether chunks begin everywhere.
  bool everywhere_;
};

}  // namespace tacos::matching
