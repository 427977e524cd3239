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
#include "synthesis/multicast/multicast.h"
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
    NamedEngine{"symmetric", is_symmetric, synthesize_symmetric},
    NamedEngine{"trees", trees_handles, synthesize_trees},
    NamedEngine{"multicast", multicast_handles, synthesize_multicast},
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
/// Up to this many matching is tried beside a pattern.
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

/// On larger networks keeps the engines that are likely to win at a cost that is worth it.
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
  if (has(synthesize_trees)) {
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

/// The engine of that name, or for `auto` those worth running on the problem.
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
  if (name == "auto" && topology.num_npus() > kMostCompared) {
    drop_costly(topology, problem, chosen);
  }
  return chosen;
}

/// Whether `next` is not worth its time after what is there: nothing beats the bandwidth bound, and
/// matching, which searches longest where it gains least, was never seen to beat a pattern or trees
/// that come near it. Where there is little but latency nothing comes near, and matching is quick.
bool leave_out(const Topology& topology, const Synthesis& best, const NamedEngine& next) {
  // Beside trees for a group matching takes minutes on large networks, and the bound seconds.
  if (topology.num_npus() > kMostBesidePattern && best.engine != "multicast") {
    return false;
  }
  const Result<BoundReport> bound = compute_bounds(topology, *best.collective);
  if (!bound) {
    return false;
  }
  std::int64_t part = 100;
  if (next.run == synthesize_matching && best.engine == "symmetric") {
    part = 32;
  } else if (next.run == synthesize_matching && best.engine == "multicast") {
    // Of an All-Reduce matching does one half after the other, so twice the bound is its limit too.
    part = best.collective->kind() == CollectiveKind::kAllReduce ? 1 : 8;
  }
  const std::int64_t least = bound->bandwidth.time.ps;
  return best.schedule->collective_time().ps - least <= least / part;
}

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

/// Runs the engines that fit and keeps the fastest schedule.
Result<Synthesis> best_of_engines(const Topology& topology,
                                  const Problem& problem,
                                  const SynthesisOptions& options) {
  Synthesis best;
  Error failure =
      input_error(fmt::format("no engine makes {} on this network yet", to_string(problem.kind)),
                  topology.name());
  for (const NamedEngine* engine : chosen_engines(topology, problem, options.engine)) {
    if (!engine->handles(topology, problem)) {
      return input_error(
          fmt::format("engine {} does not make {} on this network; leave --engine out",
                      engine->name,
                      to_string(problem.kind)),
          topology.name());
    }
    if (best.schedule && leave_out(topology, best, *engine)) {
      continue;
    }
    Result<Candidate> candidate = engine->run(topology, problem, options);
    if (!candidate) {
      // Another engine may still do it.
      failure = candidate.error();
      continue;
    }
    const Ticks time = candidate->schedule.collective_time();
    best.compared.push_back({.engine = std::string(engine->name), .collective_time = time});
    if (!best.schedule || time < best.schedule->collective_time()) {
      best.collective = std::move(candidate->collective);
      best.schedule = std::move(candidate->schedule);
      best.engine = engine->name;
      best.trials = candidate->trials;
    }
  }
  if (!best.schedule) {
    return failure;
  }
  return best;
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
  // A symmetric network is connected; with a million NPUs the search is worth leaving out.
  const auto unreachable = [&]() -> std::optional<std::pair<NodeId, NodeId>> {
    if (problem.custom) {
      return find_unreachable(topology, *problem.custom);
    }
    return is_symmetric(topology, problem) ? std::nullopt : find_unreachable(topology, problem);
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
  return best_of_engines(topology, problem, options);
}

}  // namespace tacos
