// SPDX-License-Identifier: MIT
// Chooses engines, runs them, keeps the shortest schedule.
#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "tacos/bound.h"
#include "tacos/synthesize.h"

#include "base/suggest.h"
#include "bound/instance.h"
#include "schedule/builder.h"
#include "synthesis/custom/custom.h"
#include "synthesis/engine.h"
#include "synthesis/idle_npus.h"
#include "synthesis/matching/matching.h"
#include "synthesis/reachability.h"
#include "synthesis/routing/routing.h"
#include "synthesis/symmetric/symmetric.h"
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
    NamedEngine{"symmetric", may_be_symmetric, synthesize_symmetric},
    NamedEngine{"trees", trees_handles, synthesize_trees},
    NamedEngine{"matching", matching_handles, synthesize_matching},
    NamedEngine{"routing", routing_handles, synthesize_routing},
    NamedEngine{"custom", custom_handles, synthesize_custom},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kEngines.size() + 1> names{"auto"};
  for (std::size_t i = 0; i < kEngines.size(); ++i) {
    names[i + 1] = kEngines[i].name;
  }
  return names;
}();

/// With as many chunks as asked for, or one.
Result<Collective> first_collective(const Problem& problem) {
  return problem.custom ? Result(*problem.custom)
                        : Collective::make(problem.kind,
                                           problem.size,
                                           problem.chunks.value_or(1),
                                           problem.participants,
                                           problem.root);
}

/// Alone, a participant has everything already.
Synthesis trivial(const Topology& topology, const Collective& collective) {
  Synthesis synthesis;
  synthesis.collective = collective;
  synthesis.schedule = ScheduleBuilder(topology.num_links()).build();
  synthesis.engine = "none";
  return synthesis;
}

/// Up to this many NPUs `auto` tries every engine that fits.
constexpr std::uint32_t kMostCompared = 128;
/// Up to this many it lets bounds choose between trees and the others.
constexpr std::uint32_t kMostWeighed = 2'000;
/// Up to this many matching is tried beside a pattern, or beside trees from one root.
constexpr std::uint32_t kMostBesidePattern = 512;

/// Whether even a perfect Reduce-Scatter then All-Gather is more than 3% from what trees can reach.
bool trees_promise_more(const Topology& topology, const Problem& problem) {
  std::int64_t phases = 0;
  std::int64_t joint = 0;
  for (const CollectiveKind kind :
       {CollectiveKind::kReduceScatter, CollectiveKind::kAllGather, CollectiveKind::kAllReduce}) {
    const Result<Collective> collective =
        Collective::make(kind, problem.size, 1, problem.participants);
    const Result<BoundReport> bound = collective ? compute_bounds(topology, *collective)
                                                 : Result<BoundReport>(collective.error());
    if (!bound) {
      return true;
    }
    (kind == CollectiveKind::kAllReduce ? joint : phases) += bound->bandwidth.time.ps;
  }
  return joint < phases - phases / 32;
}

bool all_reduce_by_everybody(const Topology& topology, const Problem& problem) {
  return problem.kind == CollectiveKind::kAllReduce &&
         problem.participants.size() == topology.num_npus();
}

/// On larger networks keeps the engines that are likely to win at a cost that is worth it. The
/// engine symmetric is among them only if it has made a schedule.
void drop_costly(const Topology& topology,
                 const Problem& problem,
                 std::vector<const NamedEngine*>& chosen) {
  const std::uint32_t npus = topology.num_npus();
  const auto drop = [&](Engine engine) {
    std::erase_if(chosen, [&](const NamedEngine* one) { return one->run == engine; });
  };
  const auto has = [&](Engine engine) {
    return std::any_of(
        chosen.begin(), chosen.end(), [&](const NamedEngine* one) { return one->run == engine; });
  };
  if (has(synthesize_trees) && !all_reduce_by_everybody(topology, problem)) {
    // With relays or from one root trees are better the larger the network.
    if (problem.participants.size() < npus || npus > kMostBesidePattern) {
      drop(synthesize_matching);
    }
  } else if (has(synthesize_trees)) {
    // Where trees win they win by far; a pattern costs nothing, however large the network.
    const bool symmetric = has(synthesize_symmetric);
    const bool trees = npus <= kMostWeighed ? trees_promise_more(topology, problem) : !symmetric;
    if (trees) {
      drop(synthesize_matching);
    } else {
      drop(synthesize_trees);
    }
  }
  if (has(synthesize_symmetric) && npus > kMostBesidePattern) {
    drop(synthesize_matching);
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

/// Runs engines and keeps the shortest schedule.
class Contest {
 public:
  Contest(const Topology& topology, const Problem& problem, const SynthesisOptions& options)
      : topology_(topology), problem_(problem), options_(options) {}

  Result<Synthesis> run() {
    std::vector<const NamedEngine*> chosen = chosen_engines(topology_, problem_, options_.engine);
    if (options_.engine != "auto") {
      return chosen.front()->handles(topology_, problem_) ? run_all(chosen)
                                                          : refusal(*chosen.front());
    }
    // Whether a network is symmetric is known when the engine has looked; what else is worth
    // running depends on it.
    const bool symmetric =
        !chosen.empty() && chosen.front()->run == synthesize_symmetric && enter(*chosen.front());
    if (!symmetric) {
      std::erase_if(chosen,
                    [](const NamedEngine* one) { return one->run == synthesize_symmetric; });
    }
    if (topology_.num_npus() > kMostCompared) {
      drop_costly(topology_, problem_, chosen);
    }
    return run_all(std::span(chosen).subspan(symmetric ? 1 : 0));
  }

 private:
  [[nodiscard]] Error refusal(const NamedEngine& engine) const {
    return input_error(fmt::format("engine {} does not make {} on this network; leave --engine out",
                                   engine.name,
                                   to_string(problem_.kind)),
                       topology_.name());
  }

  Result<Synthesis> run_all(std::span<const NamedEngine* const> engines) {
    for (const NamedEngine* engine : engines) {
      (void)enter(*engine);
    }
    return best_.schedule ? Result(std::move(best_)) : Result<Synthesis>(failure_);
  }

  /// Whether it made something; if not, another engine may still do it.
  bool enter(const NamedEngine& engine) {
    Result<Candidate> candidate = engine.run(topology_, problem_, options_);
    if (!candidate) {
      failure_ = candidate.error();
      return false;
    }
    const Ticks time = candidate->schedule.collective_time();
    best_.compared.push_back({.engine = std::string(engine.name), .collective_time = time});
    if (!best_.schedule || time < best_.schedule->collective_time()) {
      best_.collective = std::move(candidate->collective);
      best_.schedule = std::move(candidate->schedule);
      best_.engine = engine.name;
      best_.trials = candidate->trials;
    }
    return true;
  }

  const Topology& topology_;
  const Problem& problem_;
  const SynthesisOptions& options_;
  Synthesis best_;
  Error failure_ =
      input_error(fmt::format("no engine makes {} on this network yet", to_string(problem_.kind)),
                  topology_.name());
};

/// The schedule was made for a problem in which the same participants have other ids.
Result<Synthesis> for_participants(const Problem& problem, Synthesis made) {
  Result<Collective> collective = Collective::make(problem.kind,
                                                   problem.size,
                                                   made.collective->chunk_argument(),
                                                   problem.participants,
                                                   problem.root);
  if (!collective) {
    return collective.error();
  }
  made.collective = *std::move(collective);
  return made;
}

}  // namespace

std::span<const std::string_view> engine_names() {
  return kNames;
}

Result<Synthesis> synthesize(const Topology& topology,
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
  const Result<Collective> collective = first_collective(problem);
  if (!collective) {
    return collective.error();
  }
  if (problem.participants.size() == 1) {
    return trivial(topology, *collective);
  }
  // Such a product is connected; with a million NPUs the search is worth leaving out.
  const auto unreachable = [&]() -> std::optional<std::pair<NodeId, NodeId>> {
    if (problem.custom) {
      return find_unreachable(topology, *problem.custom);
    }
    const bool everybody = problem.participants.size() == topology.num_npus();
    return everybody && is_translation_symmetric(topology) ? std::nullopt
                                                           : find_unreachable(topology, problem);
  };
  if (const auto pair = unreachable()) {
    Synthesis synthesis;
    synthesis.status = SynthesisStatus::kInfeasible;
    synthesis.unreachable = pair;
    return synthesis;
  }
  if (const std::optional<CompactProblem> compact = without_idle_npus(topology, problem)) {
    Result<Synthesis> made = synthesize(compact->topology, compact->problem, options);
    return made ? for_participants(problem, *std::move(made)) : std::move(made);
  }
  return Contest(topology, problem, options).run();
}

}  // namespace tacos
