// SPDX-License-Identifier: MIT
// As few candidates as serve all points of a range, each a segment of it.
#pragma once

#include <cstddef>
#include <vector>

#include "tacos/units.h"

namespace tacos::planning {

/// What a candidate takes at a point that it cannot serve.
inline constexpr Ticks kNever{kMaxTime};

/// A candidate serves the points from `first` to `last`.
struct Segment {
  std::size_t candidate = 0;
  std::size_t first = 0;
  std::size_t last = 0;

  friend bool operator==(const Segment&, const Segment&) = default;
};

/// times[candidate][point]; every point has a candidate that serves it. None takes more than
/// `percent` longer than the best at a point that it serves, the segments are as few as that
/// allows, and of those the fastest on the mean. O(candidates x points^2).
[[nodiscard]] std::vector<Segment> cover(const std::vector<std::vector<Ticks>>& times, int percent);

}  // namespace tacos::planning
