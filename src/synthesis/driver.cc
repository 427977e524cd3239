// SPDX-License-Identifier: MIT
// Chooses engines, runs them, keeps the shortest schedule.
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "tacos/synthesize.h"

#include "base/suggest.h"
#include "bound/instance.h"
#include "schedule/builder.h"
#include "synthesis/engine.h"
#include "synthesis/idle_npus.h"
#include "synthesis/matching/matching.h"
#include "synthesis/reachability.h"

namespace tacos {
namespace {

struct NamedEngine {
  std::string_view name;
  Engine run;
};

constexpr std::array kEngines{
    NamedEngine{"matching", synthesize_matching},
};

constexpr auto kNames = [] {
  std::array<std::string_view, kEngines.size() + 1> names{"auto"};
  for (std::size_t i = 0; i < kEngines.size(); ++i) {
    names[i + 1] = kEngines[i].name;
  }
  return names;
}();

/// Alone, a participant has everything already.
Result<Synthesis> trivial(const Topology& topology, const Problem& problem) {
  const Result<Collective> collective = problem.custom
                                            ? Result(*problem.custom)
                                            : Collective::make(problem.kind,
                                                               problem.size,
                                                               problem.chunks.value_or(1),
                                                               problem.participants,
                                                               problem.root);
  if (!collective) {
    return collective.error();
  }
  Synthesis synthesis;
  synthesis.collective = *collective;
  synthesis.schedule = ScheduleBuilder(topology.num_links()).build();
  synthesis.engine = "none";
  return synthesis;
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
  if (problem.participants.size() == 1) {
    return trivial(topology, problem);
  }
  if (const auto pair = problem.custom ? find_unreachable(topology, *problem.custom)
                                       : find_unreachable(topology, problem.participants)) {
    Synthesis synthesis;
    synthesis.status = SynthesisStatus::kInfeasible;
    synthesis.unreachable = pair;
    return synthesis;
  }
  if (const std::optional<CompactProblem> compact = without_idle_npus(topology, problem)) {
    Result<Synthesis> made = synthesize(compact->topology, compact->problem, options);
    return made ? for_participants(problem, *std::move(made)) : std::move(made);
  }
  for (const NamedEngine& engine : kEngines) {
    if (options.engine != "auto" && options.engine != engine.name) {
      continue;
    }
    Result<Candidate> candidate = engine.run(topology, problem, options);
    if (!candidate) {
      return candidate.error();
    }
    Synthesis synthesis;
    synthesis.collective = std::move(candidate->collective);
    synthesis.schedule = std::move(candidate->schedule);
    synthesis.engine = engine.name;
    synthesis.trials = candidate->trials;
    return synthesis;
  }
  throw std::invalid_argument(unknown_name("engine", options.engine, kNames));
}

}  // namespace tacos
