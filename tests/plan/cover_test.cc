// SPDX-License-Identifier: MIT
#include "plan/cover.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include <gmock/gmock.h>
#include <rapidcheck.h>

namespace tacos::planning {
namespace {

using Times = std::vector<std::vector<Ticks>>;

/// Whether a candidate serves all points of a segment well enough.
bool serves(const Times& times, const Segment& segment, int percent) {
  for (std::size_t j = segment.first; j <= segment.last; ++j) {
    Ticks best = kNever;
    for (const auto& row : times) {
      best = std::min(best, row[j]);
    }
    const Ticks time = times[segment.candidate][j];
    if (time == kNever || time.ps * 100 > best.ps * (100 + percent)) {
      return false;
    }
  }
  return true;
}

/// The least number of segments, by trying all ways to cut the points.
std::size_t fewest(const Times& times, int percent) {
  const std::size_t points = times.front().size();
  std::size_t least = points + 1;
  for (std::uint32_t cuts = 0; cuts < 1U << (points - 1); ++cuts) {
    std::size_t count = 0;
    bool good = true;
    for (std::size_t first = 0, j = 0; j < points && good; ++j) {
      if (j + 1 == points || (cuts >> j & 1U) != 0) {
        ++count;
        good = false;
        for (std::size_t i = 0; i < times.size(); ++i) {
          good = good || serves(times, {i, first, j}, percent);
        }
        first = j + 1;
      }
    }
    least = good ? std::min(least, count) : least;
  }
  return least;
}

TEST(CoverTest, TakesAsFewAsSuffice) {
  EXPECT_TRUE(rc::check("as few as an exhaustive search", [] {
    const auto points = *rc::gen::inRange<std::size_t>(1, 8);
    const auto candidates = *rc::gen::inRange<std::size_t>(1, 6);
    Times times(candidates, std::vector<Ticks>(points));
    for (auto& row : times) {
      for (Ticks& time : row) {
        time = *rc::gen::element(
            Ticks{1000}, Ticks{1010}, Ticks{1029}, Ticks{1031}, Ticks{1060}, kNever);
      }
    }
    for (std::size_t j = 0; j < points; ++j) {
      times[*rc::gen::inRange<std::size_t>(0, candidates)][j] = Ticks{1005};
    }
    const std::vector<Segment> segments = cover(times, 3);
    std::size_t next = 0;
    for (const Segment& segment : segments) {
      RC_ASSERT(segment.first == next);
      RC_ASSERT(serves(times, segment, 3));
      next = segment.last + 1;
    }
    RC_ASSERT(next == points);
    RC_ASSERT(segments.size() == fewest(times, 3));
  }));
}

TEST(CoverTest, PrefersTheFasterOfEquallyFew) {
  const Times times{{{1000}, {1020}}, {{1010}, {1000}}};
  EXPECT_THAT(cover(times, 3), ::testing::ElementsAre(Segment{1, 0, 1}));
}

TEST(CoverTest, TakesWhatNeedsNoTime) {
  EXPECT_THAT(cover({{{0}, {0}}}, 3), ::testing::ElementsAre(Segment{0, 0, 1}));
}

}  // namespace
}  // namespace tacos::planning
