// SPDX-License-Identifier: MIT
// From a problem to its schedule: check it, take out what engines need not see, ask the policy
// which of them to run, run them, keep the best.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "tacos/synthesize.h"

#include "base/parallel/cancel.h"
#include "base/parallel/progress.h"
#include "bound/instance.h"
#include "schedule/builder.h"
#include "schedule/listed.h"
#include "schedule/source.h"
#include "synthesis/by_team.h"
#include "synthesis/common/deal.h"
#include "synthesis/engine_runs.h"
#include "synthesis/gathering.h"
#include "synthesis/idle_npus.h"
#include "synthesis/policy.h"
#include "synthesis/reachability.h"

namespace tacos {
namespace {

/// Alone, a participant has everything already.
Synthesis trivial(const Topology& topology, const Collective& collective) {
  Synthesis synthesis;
  synthesis.collective = collective;
  synthesis.schedule = ScheduleBuilder(topology.num_links()).build();
  synthesis.engine = "none";
  return synthesis;
}

/// The schedule was made for a problem in which the same participants have other ids. Links and
/// chunks have the same, so its transfers are right as they are, and so is a timetable of them; a
/// pattern is not.
Result<Synthesis> for_participants(const Topology& topology,
                                   const Problem& problem,
                                   Synthesis made) {
  Result<Collective> collective = decided(problem, made.collective->chunk_argument());
  if (!collective) {
    return collective.error();
  }
  made.collective = *std::move(collective);
  const ScheduleForm form = source_of(*made.schedule).form();
  if (std::holds_alternative<const Pattern*>(form) ||
      std::holds_alternative<const OrbitPattern*>(form)) {
    Result<Schedule> transfers = listed(*made.schedule, topology.num_links());
    if (!transfers) {
      return transfers.error();
    }
    made.schedule = *std::move(transfers);
  }
  return made;
}

void check_arguments(const Topology& topology,
                     const Problem& problem,
                     const EngineOptions& options) {
  if (options.effort < kLeastEffort || options.effort > kMostEffort) {
    throw std::invalid_argument("effort must be 1 to 9");
  }
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

/// With sums, if there are any, made on the way.
Result<Synthesis> synthesize_direct(const Topology& topology,
                                    const Problem& problem,
                                    const EngineOptions& options) {
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
    Result<Synthesis> made = synthesize_direct(compact->topology, compact->problem, options);
    return made ? for_participants(topology, problem, *std::move(made)) : std::move(made);
  }
  Result<EngineList> engines = engines_for(topology, problem, options);
  if (!engines) {
    return engines.error();
  }
  EngineRuns runs(topology, problem, options);
  if (options.engine == "auto") {
    // Whether a network is symmetric is known when the engine has looked; what else is worth
    // running depends on it.
    std::optional<Ticks> pattern;
    if (!engines->empty() && engines->front()->id == EngineId::kSymmetric) {
      pattern = runs.run_first(*engines->front());
      engines->erase(engines->begin(), engines->begin() + (pattern ? 0 : 1));
    }
    keep_promising(topology, problem, options.effort, pattern, *engines);
  }
  return runs.run(*engines);
}

/// The contributions as an All-Gather or a Gather.
Result<Synthesis> synthesize_gathered(const Topology& topology,
                                      const Problem& problem,
                                      const EngineOptions& options) {
  const Result<Problem> contributions = contributions_of(problem);
  if (!contributions) {
    return contributions.error();
  }
  Result<Synthesis> made = synthesize_direct(topology, *contributions, options);
  return made ? as_gathered(problem, *std::move(made)) : std::move(made);
}

/// Takes the gathered form where it is faster.
Synthesis faster_form(const Topology& topology,
                      const Problem& problem,
                      EngineOptions options,
                      Synthesis direct) {
  const Ticks reached = direct.schedule->collective_time();
  if (!may_gather_within(topology, problem, options.link_model, reached)) {
    return direct;
  }
  options.beat = reached;
  Result<Synthesis> gathered = synthesize_gathered(topology, problem, options);
  if (!gathered || !gathered->schedule) {
    return direct;
  }
  const Synthesis::Comparison other{.engine = gathered->engine,
                                    .form = CollectiveForm::kGathered,
                                    .collective_time = gathered->schedule->collective_time()};
  direct.compared.push_back(other);
  if (other.collective_time >= reached) {
    return direct;
  }
  gathered->compared = std::move(direct.compared);
  return *std::move(gathered);
}

}  // namespace

Result<Synthesis> synthesize(const Topology& topology,
                             const Problem& problem,
                             const SynthesisOptions& options) {
  return cancellable(options.cancel,
                     [&] { return synthesize_by_team(topology, problem, {options}); });
}

Result<Synthesis> synthesize_by_team(const Topology& topology,
                                     const Problem& problem,
                                     const EngineOptions& options) {
  check_arguments(topology, problem, options);
  if (problem.form == CollectiveForm::kGathered) {
    return synthesize_gathered(topology, problem, options);
  }
  if (!may_be_gathered(topology, problem, options)) {
    return synthesize_direct(topology, problem, options);
  }
  JointProgress progress(options.progress, 2);
  EngineOptions form_options = options;
  form_options.progress = progress.part(0);
  Result<Synthesis> made = synthesize_direct(topology, problem, form_options);
  form_options.progress = progress.part(1);
  return made && made->schedule ? faster_form(topology, problem, form_options, *std::move(made))
                                : std::move(made);
}

}  // namespace tacos
