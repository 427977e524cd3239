// SPDX-License-Identifier: MIT
// From left to right: the best way to serve the first points, for every number of them. A segment
// that is good enough everywhere is so in part, so only its ends have to be tried.
#include "plan/cover.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/assert.h"
#include "base/numbers/wide.h"

namespace tacos::planning {
namespace {

/// What is lost against the best, in millionths of it.
std::uint64_t loss(Ticks time, Ticks best) {
  return best.ps == 0
             ? 0
             : static_cast<std::uint64_t>(Int128{time.ps - best.ps} * 1'000'000 / Int128{best.ps});
}

bool good_enough(Ticks time, Ticks best, int percent) {
  return time != kNever && Int128{time.ps} * 100 <= Int128{best.ps} * (100 + percent);
}

/// The best way to serve the points before some point.
struct Way {
  std::uint64_t segments = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t loss = 0;
  Segment last;

  [[nodiscard]] bool exists() const {
    return segments != std::numeric_limits<std::uint64_t>::max();
  }
};

}  // namespace

std::vector<Segment> cover(const std::vector<std::vector<Ticks>>& times, int percent) {
  const std::size_t points = times.front().size();
  std::vector<Ticks> best(points, kNever);
  for (const std::vector<Ticks>& row : times) {
    for (std::size_t j = 0; j < points; ++j) {
      best[j] = std::min(best[j], row[j]);
    }
  }
  std::vector<Way> ways(points + 1);
  ways[0].segments = 0;
  for (std::size_t first = 0; first < points; ++first) {
    if (!ways[first].exists()) {
      continue;
    }
    for (std::size_t i = 0; i < times.size(); ++i) {
      std::uint64_t lost = ways[first].loss;
      for (std::size_t last = first;
           last < points && good_enough(times[i][last], best[last], percent);
           ++last) {
        lost += loss(times[i][last], best[last]);
        Way& way = ways[last + 1];
        const std::uint64_t segments = ways[first].segments + 1;
        if (std::tie(segments, lost) < std::tie(way.segments, way.loss)) {
          way = {.segments = segments, .loss = lost, .last = {i, first, last}};
        }
      }
    }
  }
  TACOS_ASSERT(ways[points].exists(), "every point has a candidate that serves it best");
  std::vector<Segment> segments;
  for (std::size_t end = points; end > 0; end = segments.back().first) {
    segments.push_back(ways[end].last);
  }
  std::reverse(segments.begin(), segments.end());
  return segments;
}

}  // namespace tacos::planning
