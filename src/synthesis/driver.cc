// SPDX-License-Identifier: MIT
// Chooses engines, runs them, keeps the shortest schedule.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "tacos/bound.h"
#include "tacos/synthesize.h"

#include "base/parallel/progress.h"
#include "base/text/suggest.h"
#include "bound/instance.h"
#include "schedule/builder.h"
#include "schedule/listed.h"
#include "synthesis/common/deal.h"
#include "synthesis/common/engine.h"
#include "synthesis/custom/custom.h"
#include "synthesis/effort.h"
#include "synthesis/idle_npus.h"
#include "synthesis/matching/matching.h"
#include "synthesis/multicast/multicast.h"
#include "synthesis/other_model.h"
#include "synthesis/reachability.h"
#include "synthesis/routing/routing.h"
#include "synthesis/symmetric/symmetric.h"
#include "synthesis/thresholds.h"
#include "synthesis/trees/trees.h"

namespace tacos {
namespace {

struct NamedEngine {
  std::string_view name;
  /// Whether `auto` may choose it.
  bool (*handles)(const Topology& topology, const Problem& problem);
  Engine run;
};

// Of equally good results `auto` keeps that of the first.
constexpr std::array kEngines{
    NamedEngine{"symmetric", symmetric::handles, symmetric::synthesize},
    NamedEngine{"trees", trees::handles, trees::synthesize},
    NamedEngine{"multicast", multicast::handles, multicast::synthesize},
    NamedEngine{"matching", matching::handles, matching::synthesize},
    NamedEngine{"routing", routing::handles, routing::synthesize},
    NamedEngine{"custom", custom::handles, custom::synthesize},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kEngines.size() + 1> names{"auto"};
  for (std::size_t i = 0; i < kEngines.size(); ++i) {
    names[i + 1] = kEngines[i].name;
  }
  return names;
}();

/// Alone, a participant has everything already.
Synthesis trivial(const Topology& topology, const Collective& collective) {
  Synthesis synthesis;
  synthesis.collective = collective;
  synthesis.schedule = ScheduleBuilder(topology.num_links()).build();
  synthesis.engine = "none";
  return synthesis;
}

/// The bandwidth bound for the problem's size and participants; 0 when it is not known.
Ticks bandwidth_bound(const Topology& topology, const Problem& problem, CollectiveKind kind) {
  Problem other = problem;
  other.kind = kind;
  const Result<Collective> collective = decided(other, problem.chunks.value_or(1));
  const Result<BoundReport> bound =
      collective ? compute_bounds(topology, *collective, {.with_latency = false})
                 : Result<BoundReport>(collective.error());
  return bound ? bound->bandwidth.time : Ticks{};
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
  return phases == Ticks{} || joint.ps < phases.ps - phases.ps / 32;
}

bool all_reduce_by_everybody(const Topology& topology, const Problem& problem) {
  return problem.kind == CollectiveKind::kAllReduce &&
         problem.participants.size() == topology.num_npus();
}

/// On larger networks keeps the engines that are likely to win at a cost that is worth it. The
/// engine symmetric is among them only if it has made a schedule, which takes `pattern`.
void drop_costly(const Topology& topology,
                 const Problem& problem,
                 std::optional<Ticks> pattern,
                 std::vector<const NamedEngine*>& chosen) {
  const std::uint32_t npus = topology.num_npus();
  const auto drop = [&](Engine engine) {
    std::erase_if(chosen, [&](const NamedEngine* one) { return one->run == engine; });
  };
  const auto has = [&](Engine engine) {
    return std::any_of(
        chosen.begin(), chosen.end(), [&](const NamedEngine* one) { return one->run == engine; });
  };
  if (has(trees::synthesize) && !all_reduce_by_everybody(topology, problem)) {
    // With relays or from one root trees are better the larger the network.
    if (problem.participants.size() < npus || npus > kMostBesidePattern) {
      drop(matching::synthesize);
    }
  } else if (has(trees::synthesize)) {
    // Where trees win they win by far; a pattern costs nothing, however large the network.
    const bool symmetric = has(symmetric::synthesize);
    const bool trees = npus <= kMostWeighed ? trees_promise_more(topology, problem) : !symmetric;
    if (trees) {
      drop(matching::synthesize);
    } else {
      drop(trees::synthesize);
    }
  }
  // Of small messages a pattern pays every latency; there matching is quick, and lets them share
  // it.
  const bool slow = pattern && npus <= kMostWeighed &&
                    pattern->ps > 2 * bandwidth_bound(topology, problem, problem.kind).ps;
  if (has(symmetric::synthesize) && npus > kMostBesidePattern && !slow) {
    drop(matching::synthesize);
  }
}

/// The engine of that name, or for `auto` those that may make something of the problem.
std::vector<const NamedEngine*> chosen_engines(const Topology& topology,
                                               const Problem& problem,
                                               std::string_view name) {
  std::vector<const NamedEngine*> chosen;
  for (const NamedEngine& engine : kEngines) {
    if (name == engine.name || (name == "auto" && engine.handles(topology, problem))) {
      chosen.push_back(&engine);
    }
  }
  if (chosen.empty() && name != "auto") {
    throw std::invalid_argument(unknown_name("engine", name, kNames));
  }
  return chosen;
}

/// Keeps the engines that time and memory suffice for; fails when that leaves none.
Status drop_hopeless(const Topology& topology,
                     const Problem& problem,
                     const SynthesisOptions& options,
                     std::vector<const NamedEngine*>& engines) {
  std::optional<Error> failure;
  std::erase_if(engines, [&](const NamedEngine* engine) {
    const Status fits = check_effort(engine->run, topology, problem, options);
    failure = fits || failure ? failure : fits.error();
    return !fits;
  });
  return failure && engines.empty() ? Status(*failure) : ok();
}

/// Whether an engine is not worth its time after what another has reached. Within a hundredth of
/// the bandwidth bound, which nothing beats, none is. The rest is measured, not proven, and about
/// matching on larger networks, where it takes longest and gains least. It was never seen to beat
///   - a pattern that is within 1/32 of the bound, or trees of a group that are within 1/8;
///   - over direct links that are alike both ways, an All-Reduce that is as fast as perfect phases.
///     (Elsewhere they overlap: one waits for links into, the other for links out of an NPU.)
/// With a given number of chunks it has less to search. Where there is little but latency nothing
/// comes near, and it is quick.
class NearBound {
 public:
  NearBound(const Topology& topology, const Problem& problem, std::size_t engines)
      : relays_(problem.participants.size() < topology.num_npus()),
        shortcuts_(topology.num_npus() > (problem.chunks ? kMostCompared : kMostTried)) {
    if (engines < 2 || topology.num_npus() > kMostBesidePattern) {
      return;
    }
    bandwidth_ = bandwidth_bound(topology, problem, problem.kind).ps;
    if (all_reduce_by_everybody(topology, problem) && !problem.chunks &&
        topology.num_switches() == 0 && !twin_links(topology).empty()) {
      phases_ = phases_bound(topology, problem).ps;
    }
  }

  [[nodiscard]] bool operator()(Ticks reached,
                                const NamedEngine& by,
                                const NamedEngine& next) const {
    std::int64_t part = kAsGoodAsBound;
    if (next.run == matching::synthesize) {
      if (reached.ps <= phases_) {
        return true;
      }
      if (shortcuts_ && by.run == symmetric::synthesize) {
        part = 32;
      } else if (shortcuts_ && relays_) {
        part = 8;
      }
    }
    return reached.ps - bandwidth_ <= bandwidth_ / part;
  }

 private:
  bool relays_;
  bool shortcuts_;
  /// 0 when they are not known.
  std::int64_t bandwidth_ = 0;
  std::int64_t phases_ = 0;
};

/// The schedule was made for a problem in which the same participants have other ids. Links and
/// chunks have the same, so its transfers are right as they are; a pattern of them is not.
Result<Synthesis> for_participants(const Topology& topology,
                                   const Problem& problem,
                                   Synthesis made) {
  Result<Collective> collective = decided(problem, made.collective->chunk_argument());
  if (!collective) {
    return collective.error();
  }
  made.collective = *std::move(collective);
  if (made.schedule->pattern() != nullptr || made.schedule->orbits() != nullptr) {
    Result<Schedule> transfers = listed(*made.schedule, topology.num_links());
    if (!transfers) {
      return transfers.error();
    }
    made.schedule = *std::move(transfers);
  }
  return made;
}

/// Runs engines and keeps the fastest schedule. A team deals them: as many parts of the team as
/// there are engines, at most, run one after the other of theirs.
class EngineRuns {
 public:
  EngineRuns(const Topology& topology, const Problem& problem, const SynthesisOptions& options)
      : topology_(topology),
        problem_(problem),
        options_(options),
        deal_(options.team),
        other_model_(topology, problem, options.link_model) {}

  /// By every member of a team alike; for an engine that takes no time. Whether it made something,
  /// which run() must then be told as the first of its engines.
  bool run_first(const NamedEngine& engine) {
    SynthesisOptions alone = options_;
    alone.team = nullptr;
    made_.resize(1);
    (void)run_one(engine, alone, made_.front());
    has_first_ = made_.front().has_value();
    return has_first_;
  }

  [[nodiscard]] std::optional<Ticks> first_time() const {
    return has_first_ ? std::optional(made_.front()->schedule.collective_time()) : std::nullopt;
  }

  Result<Synthesis> run(std::span<const NamedEngine* const> engines) {
    const std::size_t groups = std::min(deal_.members(), engines.size());
    std::size_t group = 0;
    SynthesisOptions options = options_;
    if (groups > 1) {
      group = static_cast<std::size_t>(options_.team->member()) % groups;
      Team& part = options_.team->split(static_cast<int>(group));
      options.team = part.size() == 1 ? nullptr : &part;
    }
    made_.resize(engines.size());
    std::vector<Deal::Reached> reached(engines.size());
    const NearBound near_bound(topology_, problem_, engines.size());
    JointProgress progress(options_.progress, engines.size());
    std::optional<std::size_t> best;
    if (has_first_) {
      reached[0].time = made_[0]->schedule.collective_time();
      best = 0;
    }
    for (std::size_t i = group; i < engines.size(); i += std::max<std::size_t>(1, groups)) {
      if (i == 0 && has_first_) {
        continue;
      }
      // What other parts of the team reached is not known yet; choose() leaves out what is to be.
      if (groups <= 1 && best && near_bound(reached[*best].time, *engines[*best], *engines[i])) {
        continue;
      }
      options.progress = progress.part(i);
      reached[i] = run_one(*engines[i], options, made_[i]);
      const bool better = made_[i] && (!best || reached[i].time < reached[*best].time);
      if (groups <= 1 && best) {
        made_[better ? *best : i].reset();
      }
      best = better ? i : best;
    }
    return choose(
        engines, near_bound, groups > 1 ? deal_.share(std::move(reached)) : std::move(reached));
  }

 private:
  Deal::Reached run_one(const NamedEngine& engine,
                        const SynthesisOptions& options,
                        std::optional<Candidate>& made) {
    Result<Candidate> candidate = engine.run(topology_, problem_, options);
    if (!candidate) {
      return {.failure = candidate.error(), .time = {}};
    }
    if (candidate->schedule.collective_time() > kMaxTime) {
      return {.failure = takes_too_long(topology_.name()), .time = {}};
    }
    made = *std::move(candidate);
    other_model_.try_it(engine.run, options, *made);
    return {.failure = std::nullopt, .time = made->schedule.collective_time()};
  }

  Result<Synthesis> choose(std::span<const NamedEngine* const> engines,
                           const NearBound& near_bound,
                           const std::vector<Deal::Reached>& reached) {
    Synthesis synthesis;
    std::optional<std::size_t> best;
    Error failure =
        input_error(fmt::format("no engine makes {} on this network yet", to_string(problem_.kind)),
                    topology_.name());
    for (std::size_t i = 0; i < engines.size(); ++i) {
      const std::string name(engines[i]->name);
      if (best && near_bound(reached[*best].time, *engines[*best], *engines[i])) {
        synthesis.compared.push_back({.engine = name, .collective_time = {}, .left_out = true});
        continue;
      }
      if (reached[i].failure) {
        // Another engine may still do it.
        failure = *reached[i].failure;
        continue;
      }
      synthesis.compared.push_back({.engine = name, .collective_time = reached[i].time});
      if (!best || reached[i].time < reached[*best].time) {
        best = i;
      }
    }
    if (!best) {
      return failure;
    }
    // From the part of the team that ran it to the leader.
    std::optional<Candidate>& made = made_[*best];
    Candidate candidate =
        engines.size() > 1 && !deal_.alone()
            ? deal_.to_leader(deal_.owner(*best), std::move(made), topology_, problem_)
            : *std::move(made);
    synthesis.engine = engines[*best]->name;
    synthesis.collective = std::move(candidate.collective);
    synthesis.schedule = std::move(candidate.schedule);
    synthesis.trials = candidate.trials;
    return synthesis;
  }

  const Topology& topology_;
  const Problem& problem_;
  const SynthesisOptions& options_;
  Deal deal_;
  OtherModel other_model_;
  /// By engine, of those that were run here and may be wanted.
  std::vector<std::optional<Candidate>> made_;
  bool has_first_ = false;
};

void check_arguments(const Topology& topology,
                     const Problem& problem,
                     const SynthesisOptions& options) {
  if (options.threads < 1 || options.trials.value_or(1) < 1 || problem.chunks.value_or(1) < 1) {
    throw std::invalid_argument("threads, trials and chunks must be 1 or more");
  }
  if (problem.participants.empty() || problem.participants.back().value() >= topology.num_npus()) {
    throw std::invalid_argument("participants must be NPUs of the topology");
  }
  if (problem.custom.has_value() != (problem.kind == CollectiveKind::kCustom)) {
    throw std::invalid_argument("a custom problem needs its collective; use custom_problem");
  }
}

/// A pair of NPUs that no path joins where the problem needs one.
std::optional<std::pair<NodeId, NodeId>> find_cut_off(const Topology& topology,
                                                      const Problem& problem) {
  if (problem.custom) {
    return find_unreachable(topology, *problem.custom);
  }
  // Such a product is connected; with a million NPUs the search is worth leaving out.
  const bool everybody = problem.participants.size() == topology.num_npus();
  return everybody && is_translation_symmetric(topology) ? std::nullopt
                                                         : find_unreachable(topology, problem);
}

}  // namespace

std::span<const std::string_view> engine_names() {
  return kNames;
}

Result<Synthesis> synthesize(const Topology& topology,
                             const Problem& problem,
                             const SynthesisOptions& options) {
  check_arguments(topology, problem, options);
  const Result<Collective> collective = decided(problem, problem.chunks.value_or(1));
  if (!collective) {
    return collective.error();
  }
  if (problem.participants.size() == 1) {
    return trivial(topology, *collective);
  }
  if (const auto pair = find_cut_off(topology, problem)) {
    Synthesis synthesis;
    synthesis.status = SynthesisStatus::kInfeasible;
    synthesis.unreachable = pair;
    return synthesis;
  }
  const ChunkTable& chunks = collective->chunks();
  if (Status fits = check_times(topology, chunks.max_bytes(), chunks.size()); !fits) {
    return fits.error();
  }
  if (const std::optional<CompactProblem> compact = without_idle_npus(topology, problem)) {
    Result<Synthesis> made = synthesize(compact->topology, compact->problem, options);
    return made ? for_participants(topology, problem, *std::move(made)) : std::move(made);
  }
  std::vector<const NamedEngine*> engines = chosen_engines(topology, problem, options.engine);
  for (const NamedEngine* engine : engines) {
    if (!engine->handles(topology, problem)) {
      return input_error(
          fmt::format("engine {} does not make {} on this network; leave --engine out",
                      engine->name,
                      to_string(problem.kind)),
          topology.name());
    }
  }
  if (Status fits = drop_hopeless(topology, problem, options, engines); !fits) {
    return fits.error();
  }
  EngineRuns runs(topology, problem, options);
  if (options.engine == "auto") {
    // Whether a network is symmetric is known when the engine has looked; what else is worth
    // running depends on it.
    if (!engines.empty() && engines.front()->run == symmetric::synthesize &&
        !runs.run_first(*engines.front())) {
      engines.erase(engines.begin());
    }
    if (topology.num_npus() > kMostCompared) {
      drop_costly(topology, problem, runs.first_time(), engines);
    }
  }
  return runs.run(engines);
}

}  // namespace tacos
