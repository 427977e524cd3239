// SPDX-License-Identifier: MIT
// The longer a window, the cheaper are its decisions, and the later is the news on which they rest:
// it moves one hop for each window. Three rules keep that harmless.
//
// News must stay ahead of demand. By the time t an NPU has taken in what begins within R(t) hops of
// it, and a window of t / (5 R) lets news move five times as fast as R grows. Where some NPUs have
// slower links than the average, as in the corners of a mesh, they decide how long it takes and the
// others have time to spare: then windows grow by as much, but not beyond a fifth of the time in
// which R grows by a hop. A constant fraction of t instead costs half the quality. On large
// networks three times as fast will do, and a third.
//
// Towards the end every NPU waits for its last few chunks, so a window is never longer than an
// eighth of what is left: without this a torus of 34^3 loses 1.4%, with it nothing.
//
// The time at which all will be done if no link pauses any more, is known at each window; what it
// has grown by is lost. When that is more than 1/512 of the time so far, windows shrink by as much.
// Networks that are long and slow in one direction need it, where links often wait for news. Where
// it takes seconds, networks that are wide, not long, may also lose 1/1024 of the whole right away,
// and as long as a window loses nothing the next is longer, up to twice as long as the rules above
// say; half as long after one that does.
//
// On unequal links windows of a few of the shortest delays are made exact instead: not longer than
// that delay, and with the times of single arrivals. Nothing is lost then (ADR 3), and the decision
// costs more only as long as windows are short.
#include "synthesis/matching/direct/window_length.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/numbers/rng.h"
#include "base/numbers/wide.h"

namespace tacos::matching {
namespace {

constexpr std::uint32_t kSamples = 8;
constexpr std::uint64_t kMargin = 5;
/// Of many deliveries over links that are alike and long ways 3 will do: of 15 meshes, tori and
/// rings, with and without failures, none became slower by more than 0.3%, and 40,000 NPUs take
/// three quarters of the time. Elsewhere some became slower by 1.5% (dragonfly) and 8% (unequal).
constexpr std::uint64_t kMarginOfMany = 3;
constexpr std::uint64_t kMany = std::uint64_t{1} << 23U;
constexpr std::size_t kLongWays = 24;
constexpr std::uint64_t kTail = 8;
constexpr std::uint64_t kMayLose = 512;
constexpr std::uint64_t kMayLoseAtOnce = 1024;
/// Of so many deliveries windows are stretched: mesh 108x108 has as many, and takes two seconds.
constexpr std::uint64_t kVeryMany = std::uint64_t{1} << 27U;
/// In eighths: what windows are stretched by, at least and at most. Without it, and the part that
/// may be lost at once, mesh 140x140 needs 1,153 windows instead of 798 and a quarter more time,
/// for 0.16% in the result; four times as long instead of twice saves 7% of the windows for as much
/// again.
constexpr std::uint64_t kUnstretched = 8;
constexpr std::uint64_t kMostStretched = 16;
/// Where all takes at least so many times as long as news across the network. Mesh 64x64 has 16,
/// mesh 12x300 has 6 and loses 2.7% if its windows are stretched.
constexpr std::uint64_t kWide = 12;
/// Windows of fewer of the shortest ones are exact.
constexpr std::uint64_t kExact = 4;

GridTime saturated(UInt128 value) {
  constexpr UInt128 kMost = std::numeric_limits<GridTime>::max() / 4;
  return static_cast<GridTime>(std::min(value, kMost));
}

/// Adds up, from a few NPUs on, how many NPUs are within r hops against the links.
class Balls {
 public:
  Balls(const GatherNetwork& network, std::uint64_t seed) : seen_(network.num_npus(), kNobody) {
    Rng rng(seed);
    for (std::uint32_t sample = 0; sample < kSamples; ++sample) {
      add(network, rng.below(network.num_npus()), sample);
    }
  }
  [[nodiscard]] const std::vector<std::uint64_t>& sums() const { return sum_; }

 private:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  void add(const GatherNetwork& network, std::uint32_t center, std::uint32_t sample) {
    std::vector<std::uint32_t> frontier{center};
    std::vector<std::uint32_t> next;
    seen_[center] = sample;
    std::uint64_t size = 1;
    for (std::size_t radius = 0; !frontier.empty() || radius < sum_.size(); ++radius) {
      // Samples before this one had reached everything by their last radius.
      const std::uint64_t before = std::uint64_t{network.num_npus()} * sample;
      sum_.resize(std::max(sum_.size(), radius + 1), before);
      sum_[radius] += size;
      next.clear();
      for (const std::uint32_t npu : frontier) {
        for (std::uint32_t at = network.first_in(npu); at < network.end_in(npu); ++at) {
          const std::uint32_t src = network.in_links()[at].src;
          if (seen_[src] != sample) {
            seen_[src] = sample;
            next.push_back(src);
          }
        }
      }
      size += next.size();
      frontier.swap(next);
    }
  }

  std::vector<std::uint32_t> seen_;
  std::vector<std::uint64_t> sum_;
};

/// The delay that one link in eight does not exceed: a few very fast links do not count.
GridTime short_delay(const GatherNetwork& network) {
  std::vector<GridTime> delays;
  for (const InLink& link : network.in_links()) {
    delays.push_back(link.delay);
  }
  const auto eighth = delays.begin() + static_cast<std::ptrdiff_t>(delays.size() / 8);
  std::nth_element(delays.begin(), eighth, delays.end());
  return *eighth;
}

/// A reader puts a window together in memory, which must stay small.
std::uint64_t most_deliveries(bool uniform) {
  return std::uint64_t{1} << (uniform ? 24U : 22U);
}

}  // namespace

WindowLength::WindowLength(const GatherNetwork& network, const GatherTask& task, std::uint64_t seed)
    : ball_(Balls(network, seed).sums()),
      shortest_(network.uniform() ? 1 : short_delay(network)),
      max_delay_(network.max_delay()),
      margin_(kMargin),
      stretch_(kUnstretched),
      uniform_(network.uniform()),
      everywhere_(task.owners.size() == network.num_npus()) {
  for (std::uint64_t& sum : ball_) {
    sum *= task.chunks_per_owner;
  }
  GridTime least_period = kNever;
  for (const InLink& link : network.in_links()) {
    least_period = std::min(least_period, link.period);
  }
  // Chunks in `second`, which is long enough to count them.
  const UInt128 second = UInt128{least_period} << 20U;
  UInt128 all = 0;
  for (std::uint32_t npu = 0; npu < network.num_npus(); ++npu) {
    UInt128 rate = 0;
    for (std::uint32_t at = network.first_in(npu); at < network.end_in(npu); ++at) {
      rate += second / network.in_links()[at].period;
    }
    all += rate;
    const bool takes = network.first_in(npu) != network.end_in(npu);
    chunk_time_.push_back(takes ? saturated((second << kFractionBits) / std::max<UInt128>(1, rate))
                                : 0);
    slowest_ = std::max(slowest_, chunk_time_.back());
  }
  average_ = std::max<std::uint64_t>(
      1, saturated((second << kFractionBits) * network.num_npus() / std::max<UInt128>(1, all)));
  longest_ = std::max<GridTime>(
      shortest_,
      saturated(UInt128{average_} * most_deliveries(uniform_) / network.num_npus() >>
                kFractionBits));
  const std::vector<std::uint32_t> lacking = task.lacking(network.num_npus());
  const std::uint64_t deliveries =
      std::accumulate(lacking.begin(), lacking.end(), std::uint64_t{0});
  if (uniform_ && ball_.size() >= kLongWays && deliveries >= kMany) {
    margin_ = kMarginOfMany;
  }
  for (std::uint32_t npu = 0; npu < network.num_npus(); ++npu) {
    least_ = std::max(least_, finish(npu, lacking[npu], 0));
  }
  stretches_ =
      margin_ == kMarginOfMany && deliveries >= kVeryMany && least_ / ball_.size() >= kWide;
}

GridTime WindowLength::demand_time(std::uint64_t chunks) const {
  return saturated((UInt128{chunks} * average_ >> kFractionBits) / kSamples);
}

GridTime WindowLength::ahead_of_demand(GridTime now) {
  while (radius_ + 1 < ball_.size() && demand_time(ball_[radius_]) < now) {
    ++radius_;
  }
  const GridTime safe = now / (margin_ * std::max<std::uint64_t>(1, radius_));
  const GridTime slack = saturated(UInt128{safe} * slowest_ / average_);
  const std::uint64_t ring = ball_[radius_] - (radius_ == 0 ? 0 : ball_[radius_ - 1]);
  return std::max(safe, std::min(slack, demand_time(ring) / margin_));
}

WindowLength::Length WindowLength::next(GridTime now, GridTime finish) {
  GridTime time = everywhere_ ? ahead_of_demand(now) : 0;
  GridTime may_lose = now / kMayLose;
  const GridTime best = least_ + max_delay_;
  const GridTime lost = finish > best ? finish - best : 0;
  if (stretches_) {
    may_lose = std::max(may_lose, least_ / kMayLoseAtOnce);
    time = time * stretch_ / kUnstretched;
    stretch_ = finish <= last_finish_ ? std::min(stretch_ + 1, kMostStretched)
                                      : std::max(stretch_ / 2, kUnstretched);
    last_finish_ = finish;
  }
  if (lost > may_lose) {
    time = static_cast<GridTime>(UInt128{time} * may_lose / lost);
  }
  time = std::min(time, (std::max(finish, now) - now) / kTail);
  if (uniform_) {
    return {.time = std::clamp<GridTime>(time, 1, longest_), .exact = false};
  }
  const bool exact = time < kExact * shortest_;
  return {.time = exact ? shortest_ : std::min(time, longest_), .exact = exact};
}

}  // namespace tacos::matching
