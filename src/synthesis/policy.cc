// SPDX-License-Identifier: MIT
#include "synthesis/policy.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "tacos/bound.h"

#include "base/text/suggest.h"
#include "bound/distance.h"
#include "synthesis/common/attempts.h"
#include "synthesis/common/deal.h"

namespace tacos {
namespace {

/// Bounds for the problem's size and participants, as if it were of that kind.
Result<BoundReport> bounds_as(const Topology& topology,
                              const Problem& problem,
                              CollectiveKind kind,
                              const BoundOptions& options) {
  Problem other = problem;
  other.kind = kind;
  const Result<Collective> collective = decided(other, problem.chunks.value_or(1));
  return collective ? compute_bounds(topology, *collective, options)
                    : Result<BoundReport>(collective.error());
}

/// 0 when it is not known.
Ticks bandwidth_bound(const Topology& topology, const Problem& problem, CollectiveKind kind) {
  const Result<BoundReport> bounds = bounds_as(topology, problem, kind, {.with_latency = false});
  return bounds ? bounds->bandwidth.time : Ticks{};
}

/// What no schedule beats, latencies counted; 0 when it is not known. It takes less than a
/// millisecond on 64 NPUs.
Ticks whole_bound(const Topology& topology,
                  const Problem& problem,
                  CollectiveKind kind,
                  LinkModel model) {
  const Result<BoundReport> bounds = bounds_as(topology, problem, kind, {.link_model = model});
  return bounds ? bounds->best.time : Ticks{};
}

/// Each participant's part of an All-Reduce by phases comes to it from all others and goes back to
/// all: the latencies of that way, which no overlap of the phases makes shorter.
Ticks there_and_back(const Topology& topology, const Problem& problem) {
  Ticks longest;
  const auto farthest = [&](NodeId npu, Toward direction) {
    const std::vector<Ticks> distance = distances(topology, npu, direction);
    Ticks most;
    for (const NodeId other : problem.participants) {
      most = std::max(most, distance[other.index()]);
    }
    return most;
  };
  for (const NodeId npu : problem.participants) {
    longest = std::max(longest, farthest(npu, Toward::kTo) + farthest(npu, Toward::kFrom));
  }
  return longest;
}

/// What a perfect Reduce-Scatter then All-Gather takes; 0 when it is not known.
Ticks phases_bound(const Topology& topology, const Problem& problem) {
  const Ticks reduce = bandwidth_bound(topology, problem, CollectiveKind::kReduceScatter);
  const Ticks gather = bandwidth_bound(topology, problem, CollectiveKind::kAllGather);
  return reduce == Ticks{} || gather == Ticks{} ? Ticks{} : reduce + gather;
}

/// Whether trees can reach what even perfect phases cannot.
bool trees_promise_more(const Topology& topology, const Problem& problem) {
  const Ticks phases = phases_bound(topology, problem);
  const Ticks joint = bandwidth_bound(topology, problem, problem.kind);
  return phases == Ticks{} || joint.ps < phases.ps - phases.ps / kTreesPromiseMore;
}

/// Each step was measured over all presets of up to 64 NPUs (docs/adr/0089).
constexpr std::array<Level, kMostEffort> kLevels{{
    {.as_good_as_bound = 4, .first_good = true, .gathers = false, .other_model = false},
    {.as_good_as_bound = 16, .gathers = false, .other_model = false},
    {.as_good_as_bound = 32, .other_model = false},
    {.as_good_as_bound = 64, .other_model = false},
    {},
    {},
    {.as_good_as_bound = 400},
    {.as_good_as_bound = kAtTheBound, .thorough = true},
    {.as_good_as_bound = kAtTheBound, .thorough = true, .gives_up = false},
}};

/// The engine that wins most often, of those that take little to find something good.
EngineId first_choice(const Topology& topology, const Problem& problem) {
  const CollectiveTraits& kind = traits(problem.kind);
  if (problem.kind == CollectiveKind::kCustom) {
    return EngineId::kCustom;
  }
  if (!kind.spreads()) {
    return EngineId::kRouting;
  }
  const bool trees =
      kind.chunks_per == ChunksPer::kBuffer || problem.participants.size() < topology.num_npus();
  return trees ? EngineId::kTrees : EngineId::kMatching;
}

bool all_reduce_by_everybody(const Topology& topology, const Problem& problem) {
  return traits(problem.kind).has_two_phases() &&
         problem.participants.size() == topology.num_npus();
}

std::int64_t pattern_part(const Topology& topology, LinkModel model) {
  return topology.num_switches() > 0 && model == LinkModel::kHold ? kPatternSufficesUnderHold
                                                                  : kPatternSuffices;
}

std::int64_t root_part(const Limits& limits, LinkModel model) {
  const std::int64_t latencies = limits.whole.ps - limits.bandwidth.ps;
  if (model == LinkModel::kPipelined || latencies <= limits.whole.ps / kNoLatencies) {
    return kRootSuffices;
  }
  return latencies <= limits.whole.ps / kFewLatencies ? kRootSufficesAfterFew
                                                      : kRootSufficesAfterMany;
}

}  // namespace

const Level& level_of(int effort) {
  return kLevels[static_cast<std::size_t>(effort - kLeastEffort)];
}

Result<EngineList> engines_for(const Topology& topology,
                               const Problem& problem,
                               const EngineOptions& options) {
  const bool asked = options.engine != "auto";
  EngineList engines;
  const auto is_wanted = [&](const EngineInfo& engine) {
    const bool for_few = engine.for_few && !level_of(options.effort).thorough;
    const bool too_large = engine.id == EngineId::kBaseline &&
                           topology.num_npus() > (for_few ? kMostTried : kMostCompared);
    return engine.from_effort <= options.effort && !too_large && engine.handles(topology, problem);
  };
  for (const EngineInfo& engine : all_engines()) {
    if (asked ? options.engine == engine.name : is_wanted(engine)) {
      engines.push_back(&engine);
    }
  }
  if (asked && engines.empty()) {
    throw std::invalid_argument(unknown_name("engine", options.engine, engine_names()));
  }
  if (asked && !engines.front()->handles(topology, problem)) {
    return input_error(fmt::format("engine {} does not make {} on this network; leave --engine out",
                                   options.engine,
                                   to_string(problem.kind)),
                       topology.name());
  }
  std::optional<Error> failure;
  std::erase_if(engines, [&](const EngineInfo* engine) {
    const Status fits =
        check_need(engine->need(topology, problem), engine->name, topology, problem, options);
    failure = fits || failure ? failure : fits.error();
    return !fits;
  });
  if (failure && engines.empty()) {
    return *failure;
  }
  const auto is = [](EngineId id) {
    return [id](const EngineInfo* engine) { return engine->id == id; };
  };
  const auto trees = std::find_if(engines.begin(), engines.end(), is(EngineId::kTrees));
  const auto matching = std::find_if(engines.begin(), engines.end(), is(EngineId::kMatching));
  if (trees < matching && matching != engines.end() && topology.num_switches() > 0 &&
      problem.participants.size() == topology.num_npus()) {
    // Through switches matching is the faster and, but for small sums, the better of the two; what
    // it reaches tells trees when to give up.
    std::rotate(trees, trees + 1, matching + 1);
  }
  const auto exchange = std::find_if(engines.begin(), engines.end(), is(EngineId::kExchange));
  if (exchange != engines.end() && traits(problem.kind).spreads() &&
      !sharing_pays(topology, options.link_model)) {
    // It takes milliseconds; what it reaches tells those that take longest when to give up. Where
    // a message costs more than its bytes, trees may be far behind at first and win.
    const auto first = std::find_if_not(engines.begin(), engines.end(), is(EngineId::kSymmetric));
    std::rotate(first, exchange, exchange + 1);
  }
  if (level_of(options.effort).first_good) {
    // A pattern, else the first choice; the others only if neither makes anything.
    const EngineId first = first_choice(topology, problem);
    std::stable_partition(engines.begin(), engines.end(), [&](const EngineInfo* engine) {
      return engine->id == EngineId::kSymmetric || engine->id == first;
    });
  }
  return engines;
}

void keep_promising(const Topology& topology,
                    const Problem& problem,
                    int effort,
                    std::optional<Ticks> pattern,
                    EngineList& engines) {
  const std::uint32_t npus = topology.num_npus();
  if (npus <= kMostCompared || level_of(effort).first_good) {
    return;
  }
  const auto drop = [&](EngineId id) {
    std::erase_if(engines, [&](const EngineInfo* engine) { return engine->id == id; });
  };
  const auto has = [&](EngineId id) {
    return std::any_of(
        engines.begin(), engines.end(), [&](const EngineInfo* engine) { return engine->id == id; });
  };
  if (has(EngineId::kTrees) && !all_reduce_by_everybody(topology, problem)) {
    // With relays or from one root trees are better the larger the network.
    if (problem.participants.size() < npus || npus > kMostBesidePattern) {
      drop(EngineId::kMatching);
    }
  } else if (has(EngineId::kTrees)) {
    // Where trees win they win by far; a pattern costs nothing, however large the network.
    const bool trees =
        npus <= kMostWeighed ? trees_promise_more(topology, problem) : !has(EngineId::kSymmetric);
    drop(trees ? EngineId::kMatching : EngineId::kTrees);
  }
  // Of small messages a pattern pays every latency; there matching is quick, and lets them share
  // it.
  const bool slow = pattern && npus <= kMostWeighed &&
                    pattern->ps > 2 * bandwidth_bound(topology, problem, problem.kind).ps;
  if (has(EngineId::kSymmetric) && npus > kMostBesidePattern && !slow) {
    drop(EngineId::kMatching);
  }
}

bool may_be_gathered(const Topology& topology,
                     const Problem& problem,
                     const EngineOptions& options) {
  return options.engine == "auto" && level_of(options.effort).gathers && !problem.form &&
         traits(problem.kind).gathered && topology.num_npus() <= kMostGathered &&
         problem.participants.size() > 1;
}

StopRule::StopRule(const Topology& topology,
                   const Problem& problem,
                   const EngineOptions& options,
                   std::size_t num_engines)
    : level_(level_of(options.effort)),
      relays_(problem.participants.size() < topology.num_npus()),
      two_phases_(traits(problem.kind).has_two_phases()),
      larger_(!level_.thorough && topology.num_npus() > (problem.chunks ? kMostCompared
                                                         : relays_      ? kFewNpus
                                                                        : kMostTried)),
      pattern_part_(pattern_part(topology, options.link_model)),
      from_root_through_switches_(is_rooted(problem.kind) && !relays_ &&
                                  topology.num_switches() > 0 &&
                                  topology.num_npus() <= kMostCompared) {
  if (num_engines < 2 || topology.num_npus() > kMostBesidePattern || level_.first_good) {
    return;
  }
  limits_.bandwidth = bandwidth_bound(topology, problem, problem.kind);
  // Over direct links that are alike both ways. Elsewhere phases may overlap: one waits for links
  // into, the other for links out of an NPU.
  never_overlap_ = all_reduce_by_everybody(topology, problem) && topology.num_switches() == 0 &&
                   !twin_links(topology).empty();
  if (two_phases_ && !problem.chunks && (larger_ || never_overlap_)) {
    limits_.phases = phases_bound(topology, problem);
  }
  const bool has_parts =
      problem.size.count >= static_cast<std::int64_t>(problem.participants.size());
  if (two_phases_ && has_parts) {
    limits_.there_and_back = there_and_back(topology, problem);
  }
  if (topology.num_npus() > kMostCompared) {
    return;
  }
  const auto bound = [&](CollectiveKind kind) {
    return whole_bound(topology, problem, kind, options.link_model);
  };
  if (!two_phases_ && (traits(problem.kind).spreads() || is_rooted(problem.kind))) {
    limits_.whole = bound(problem.kind);
    root_part_ = root_part(limits_, options.link_model);
  }
  if (topology.num_switches() > 0) {
    pattern_suffices_ =
        two_phases_ ? bound(CollectiveKind::kReduceScatter) + bound(CollectiveKind::kAllGather)
                    : limits_.whole;
    // Where latency is more than half of it, messages that share transfers gain.
    const Ticks bytes = two_phases_ ? limits_.phases : limits_.bandwidth;
    pattern_suffices_ = 2 * bytes.ps < pattern_suffices_.ps ? Ticks{} : pattern_suffices_;
  }
}

Ticks StopRule::suffices() const {
  const Ticks bound = std::max(limits_.whole, limits_.bandwidth);
  return bound + Ticks{bound.ps / std::max(kSearchedNoFurther, level_.as_good_as_bound)};
}

bool StopRule::operator()(Ticks reached, const EngineInfo& by, const EngineInfo& next) const {
  if (level_.first_good) {
    return true;
  }
  const auto within_part_of = [&](Ticks limit, std::int64_t part) {
    return reached.ps - limit.ps <= limit.ps / part;
  };
  const auto within = [&](std::int64_t part) { return within_part_of(limits_.bandwidth, part); };
  if (reached <= limits_.whole ||
      (next.id == EngineId::kMatching && reached <= limits_.there_and_back)) {
    return true;
  }
  if (limits_.phases > Ticks{} && reached <= next.least(limits_) &&
      (never_overlap_ || within(kPhasesMayOverlap))) {
    return true;
  }
  if (larger_ && from_root_through_switches_ && next.id == EngineId::kTrees &&
      within_part_of(limits_.whole, root_part_)) {
    return true;
  }
  // Baselines find out quickly themselves whether they can be faster.
  std::int64_t part = next.id == EngineId::kBaseline ? kAtTheBound : level_.as_good_as_bound;
  if (larger_ && next.id == EngineId::kMatching) {
    if (relays_ && two_phases_ && within(kGroupSumsMayGain)) {
      return true;
    }
    if (by.id == EngineId::kSymmetric) {
      part = pattern_part_;
      if (within_part_of(pattern_suffices_, kPatternSuffices)) {
        return true;
      }
    } else if (relays_) {
      part = kGroupTreesSuffice;
    }
  }
  return within(part);
}

}  // namespace tacos
