// SPDX-License-Identifier: MIT
// What `auto` runs and when it stops: all of its judgement, and none of the running.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tacos/result.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "synthesis/engines.h"

namespace tacos {

// Where `auto` draws its lines, all measured with the suite of bench/ (docs/adr/0071).

/// Within this part not even an algorithm from a book is looked at.
inline constexpr std::int64_t kAtTheBound = 10'000;

/// Nor is anything that takes longer than a bound, latencies counted, by less than this part worth
/// a search: it could gain half a percent at most. At efforts that ask for more, less.
inline constexpr std::int64_t kSearchedNoFurther = 200;

/// What an effort buys beside larger budgets (common/work.h).
struct Level {
  /// Within this part of the bound a schedule is as good as any.
  std::int64_t as_good_as_bound = 100;
  /// What the first engine makes: a pattern, or else the one that wins most often.
  bool first_good = false;
  /// Whether an All-Reduce may be gathered.
  bool gathers = true;
  /// Whether an engine is run under the other link model too (other_model.h).
  bool other_model = true;
  /// Whether engines run that were never seen to win after what another has reached.
  bool thorough = false;
  /// Whether an engine gives up where it expects to be slower than what another has reached. If
  /// not, all takes twice as long, for nothing in 51 of 52 cases (docs/adr/0119).
  bool gives_up = true;
};
[[nodiscard]] const Level& level_of(int effort);

/// Up to this many NPUs `auto` tries every engine that fits, and where it helps both link models:
/// it takes tenths of a second. With a given number of chunks up to kMostCompared.
inline constexpr std::uint32_t kMostTried = 16;
/// Up to this many it tries most of them, algorithms from books among them: those win where a
/// message costs a port its latency, an All-to-All of 1 KiB over 32 H100 2.5 times.
inline constexpr std::uint32_t kMostCompared = 128;
/// Up to this many it lets bounds choose between trees and the others.
inline constexpr std::uint32_t kMostWeighed = 2'000;
/// Up to this many matching is tried beside a pattern, or beside trees from one root.
inline constexpr std::uint32_t kMostBesidePattern = 512;
/// Beyond kMostTried matching was never seen to beat a pattern within this part of the bound, nor
/// through switches of a bound that knows latencies and is half bytes (over direct links it was: an
/// All-Gather of 4 MiB on torus 8x8 by 0.9%), ...
inline constexpr std::int64_t kPatternSuffices = 32;
/// Under `hold` through switches this one: in 15 cases it took 2 to 5% longer, in one of 11.8% from
/// the bound 0.4% less.
inline constexpr std::int64_t kPatternSufficesUnderHold = 10;
/// ... nor, beyond kFewNpus, trees of a group among other NPUs within this one: a Broadcast over
/// half of two A100 boxes took it 10 s for twice the time. Of an All-Reduce of such a group it was
/// never seen to beat what is within twice the bound; where latency makes up more it is quick, and
/// gained 16% over 33 of 60 NPUs.
inline constexpr std::int64_t kGroupTreesSuffice = 8;
inline constexpr std::int64_t kGroupSumsMayGain = 1;
/// From one root through switches, beyond kMostTried NPUs and up to kMostCompared, trees were never
/// seen to gain more than 3% on what is within this part of the bound; they take a third of the
/// time there (docs/adr/0113, 0120). Farther away they gained up to 15%, ...
inline constexpr std::int64_t kRootSuffices = 32;
/// ... but not under `hold`, where each chunk waits for the latency of each port: where latencies
/// are more than so small a part of the bound they were seen to win once within 1.5 times the
/// bound, by 2%, ...
inline constexpr std::int64_t kNoLatencies = 16'384;
inline constexpr std::int64_t kRootSufficesAfterFew = 2;
/// ... and where they are more than this one only beyond twice the bound, by 3.5% of a Broadcast of
/// 64 KiB over two DGX-2.
inline constexpr std::int64_t kFewLatencies = 64;
inline constexpr std::int64_t kRootSufficesAfterMany = 1;
/// Two phases that overlap were never seen to beat, on larger networks, what is within this part of
/// the bound and no slower than they are one after the other. With ports of four H100 boxes slowed
/// down they beat trees at 72% of the bound by 9%.
inline constexpr std::int64_t kPhasesMayOverlap = 8;
/// Trees are chosen on larger networks when their bound is this part below that of two phases.
inline constexpr std::int64_t kTreesPromiseMore = 32;

// Whether an engine is told what others have reached, so that it may give up, and whether it is run
// under the other link model too (other_model.h).

/// Up to so many NPUs it is told nothing: there `auto` is no slower than any of its engines,
/// whatever those expect of themselves. Giving up cost a Scatter over 3 NPUs 6%, a Broadcast over 6
/// NPUs 4%, a Gather over 11 NPUs 1.5%, for a fifth of the time, 0.01 s (96 cases of 8 NPUs). And
/// up to so many it is run under the other model, which takes half as long again, tenths of a
/// second: 8 NPUs with latencies from picoseconds to a second took 7% longer than under `hold`.
/// With more NPUs and more transfers that takes too long unless it promises much: a fat tree of 16
/// NPUs took 10 s instead of 3, for 1.3%. Beyond kMostTried NPUs it is then tried from one root or
/// by routing only, with one number of chunks: an All-Reduce of 64 KiB over 64 NPUs took 11 s
/// instead of 4, for nothing. Nor is it tried there where another engine is ahead, which it changed
/// in none of 153 cases, or where the latencies of so many chunks alone take longer: it then took 2
/// to 111 times as long, in 48 cases. Beyond kFewNpus, too, it is not tried by who is behind,
/// unless the number of chunks is given and transfers are few: with three chunks a Reduce over 40
/// NPUs then took 14% longer than its engine alone.
inline constexpr std::uint32_t kFewNpus = 14;
inline constexpr std::uint64_t kFewTransfers = 2'048;
/// There, and beyond kMostTried NPUs, it is tried where what was made is more than this part of the
/// bound above it: an All-to-All over 18 NPUs took 1.5 times as long as under `hold`, one over 40
/// NPUs 1.33 times, a Broadcast over 60 NPUs 1.25 times.
inline constexpr std::int64_t kFarFromBound = 8;

/// Contributions are gathered up to so many NPUs: there an All-Gather takes tenths of a second, and
/// beyond them the bytes of all outweigh a second way through all but the largest networks.
inline constexpr std::uint32_t kMostGathered = 512;

using EngineList = std::vector<const EngineInfo*>;

/// The engine that the options name, or for `auto` those that may make something of the problem and
/// that time and memory suffice for. Fails when that leaves none; throws on an unknown name.
[[nodiscard]] Result<EngineList> engines_for(const Topology& topology,
                                             const Problem& problem,
                                             const EngineOptions& options);

/// On larger networks keeps the engines that are likely to win at a cost that is worth it. The
/// engine `symmetric` is among them only if it has made a schedule, which takes `pattern`.
void keep_promising(const Topology& topology,
                    const Problem& problem,
                    int effort,
                    std::optional<Ticks> pattern,
                    EngineList& engines);

/// Whether the gathered form is to be tried where it may be faster.
[[nodiscard]] bool may_be_gathered(const Topology& topology,
                                   const Problem& problem,
                                   const EngineOptions& options);

/// Whether an engine is not worth its time after what another has reached. Within a hundredth of
/// the bandwidth bound, which nothing beats, none is. The rest is measured, not proven, and about
/// matching on larger networks, where it takes longest and gains least. With a given number of
/// chunks it has less to search. Where there is little but latency nothing comes near the bound,
/// and it is quick.
class StopRule {
 public:
  StopRule(const Topology& topology,
           const Problem& problem,
           const EngineOptions& options,
           std::size_t num_engines);

  [[nodiscard]] bool operator()(Ticks reached, const EngineInfo& by, const EngineInfo& next) const;

  /// When an engine's own search may end.
  [[nodiscard]] Ticks suffices() const;

 private:
  const Level& level_;
  /// Whether others than those that take part may relay.
  bool relays_;
  bool two_phases_;
  /// Whether a Reduce-Scatter and an All-Gather share no time.
  bool never_overlap_ = false;
  bool larger_;
  /// Within these parts of bounds a pattern suffices, or whatever there is where trees come from a
  /// root.
  std::int64_t pattern_part_;
  std::int64_t root_part_ = kRootSuffices;
  bool from_root_through_switches_;
  Limits limits_;
  /// Through switches, the bound that kPatternSuffices is a part of, latencies counted; of an
  /// All-Reduce those of its two phases. 0 where it is not known, or all latency.
  Ticks pattern_suffices_;
};

}  // namespace tacos
