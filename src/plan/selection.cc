// SPDX-License-Identifier: MIT
// Each candidate is timed at the sizes around its own, with the order on its links kept as a
// runtime would keep it, and as few as suffice are chosen (plan/cover.h). Where one gives way to
// the next is searched between two points.
//
// O(points^2) simulations at most: a candidate is timed as far as it is near the best.
#include "plan/selection.h"

#include <algorithm>

#include "tacos/plan.h"

#include "plan/candidates.h"
#include "plan/cover.h"

namespace tacos::planning {
namespace {

using Candidates = std::span<const std::optional<Bundle>>;

/// Times a candidate at points ever further from its own, for as long as it is any good.
class Timing {
 public:
  Timing(Candidates candidates, std::span<const Bytes> points)
      : candidates_(candidates),
        points_(points),
        times_(points.size(), std::vector<Ticks>(points.size(), kNever)) {}

  Status run() {
    const std::size_t count = points_.size();
    for (std::size_t i = 0; i < count; ++i) {
      if (const Result<bool> good = time(i, i); !good) {
        return good.error();
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      Result<bool> good = true;
      for (std::size_t j = i + 1; j < count && good && *good; ++j) {
        good = time(i, j);
      }
      if (good) {
        good = true;
        for (std::size_t j = i; j > 0 && good && *good; --j) {
          good = time(i, j - 1);
        }
      }
      if (!good) {
        return good.error();
      }
    }
    return ok();
  }
  [[nodiscard]] const std::vector<std::vector<Ticks>>& times() const { return times_; }

 private:
  /// Whether it is near enough to what was made for the point to go on.
  Result<bool> time(std::size_t candidate, std::size_t point) {
    constexpr std::int64_t kHopelessPercent = 125;
    const Result<Ticks> time = time_at(*candidates_[candidate], points_[point]);
    if (!time) {
      return time.error();
    }
    times_[candidate][point] = *time;
    return *time != kNever && time->ps / kHopelessPercent <= times_[point][point].ps / 100;
  }

  Candidates candidates_;
  std::span<const Bytes> points_;
  std::vector<std::vector<Ticks>> times_;
};

/// The least size between two from which on the second is faster, to a sixty-fourth.
Result<Bytes> crossover(const Bundle& first, const Bundle& second, Bytes from, Bytes to) {
  const std::int64_t fine = std::max<std::int64_t>(1, from.count / 64);
  while (to.count - from.count > fine) {
    const Bytes middle{from.count + (to.count - from.count) / 2};
    const Result<Ticks> one = time_at(first, middle);
    const Result<Ticks> other = time_at(second, middle);
    if (!one || !other) {
      return one ? other.error() : one.error();
    }
    (*other < *one ? to : from) = middle;
  }
  return to;
}

}  // namespace

Result<std::vector<Choice>> select(Candidates candidates, std::span<const Bytes> points) {
  Timing timing(candidates, points);
  if (Status timed = timing.run(); !timed) {
    return timed.error();
  }
  const std::vector<Segment> segments = cover(timing.times(), kPlanSlackPercent);
  std::vector<Choice> choices;
  choices.reserve(segments.size());
  Bytes least = points.front();
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Segment& here = segments[s];
    Choice choice{.candidate = here.candidate,
                  .first = here.first,
                  .last = here.last,
                  .least = least,
                  .most = points.back()};
    if (s + 1 < segments.size()) {
      const Result<Bytes> next = crossover(*candidates[here.candidate],
                                           *candidates[segments[s + 1].candidate],
                                           points[here.last],
                                           points[here.last + 1]);
      if (!next) {
        return next.error();
      }
      choice.most = {next->count - 1};
      least = *next;
    }
    choices.push_back(choice);
  }
  return choices;
}

}  // namespace tacos::planning
