// SPDX-License-Identifier: MIT
// Chooses engines, runs them, keeps the shortest schedule.
#include <array>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "tacos/synthesize.h"

#include "base/suggest.h"
#include "schedule/builder.h"
#include "synthesis/engine.h"
#include "synthesis/matching/matching.h"
#include "synthesis/reachability.h"
#include "synthesis/symmetric/symmetric.h"

namespace tacos {
namespace {

struct NamedEngine {
  std::string_view name;
  Engine run;
};

constexpr NamedEngine kSymmetric{"symmetric", synthesize_symmetric};
constexpr NamedEngine kMatching{"matching", synthesize_matching};
constexpr std::array kEngines{kMatching, kSymmetric};

/// Up to this many deliveries of one chunk per NPU, `auto` tries matching where a pattern will do.
constexpr std::uint64_t kCheapMatching = std::uint64_t{1} << 18U;

constexpr auto kNames = [] {
  std::array<std::string_view, kEngines.size() + 1> names{"auto"};
  for (std::size_t i = 0; i < kEngines.size(); ++i) {
    names[i + 1] = kEngines[i].name;
  }
  return names;
}();

/// Alone, a participant has everything already.
Result<Synthesis> trivial(const Topology& topology, const Problem& problem) {
  const Result<Collective> collective = Collective::make(
      problem.kind, problem.size, problem.chunks.value_or(1), problem.participants, problem.root);
  if (!collective) {
    return collective.error();
  }
  Synthesis synthesis;
  synthesis.collective = *collective;
  synthesis.schedule = ScheduleBuilder(topology.num_links()).build();
  synthesis.engine = "none";
  return synthesis;
}

/// What `auto` runs; the first of equally good ones is kept.
std::vector<NamedEngine> engines_for(const Problem& problem, bool symmetric) {
  const std::uint64_t participants = problem.participants.size();
  if (!symmetric) {
    return {kMatching};
  }
  if (participants * participants > kCheapMatching) {
    return {kSymmetric};
  }
  return {kSymmetric, kMatching};
}

/// The engines that the options name.
std::vector<NamedEngine> choose_engines(const Problem& problem,
                                        const SynthesisOptions& options,
                                        bool symmetric) {
  if (options.engine == "auto") {
    return engines_for(problem, symmetric);
  }
  for (const NamedEngine& engine : kEngines) {
    if (options.engine == engine.name) {
      return {engine};
    }
  }
  throw std::invalid_argument(unknown_name("engine", options.engine, kNames));
}

/// Runs the engines, keeps the shortest schedule.
Result<Synthesis> run_engines(const Topology& topology,
                              const Problem& problem,
                              const SynthesisOptions& options,
                              std::span<const NamedEngine> engines) {
  Synthesis best;
  for (const NamedEngine& engine : engines) {
    Result<Candidate> candidate = engine.run(topology, problem, options);
    if (!candidate) {
      return candidate.error();
    }
    if (best.schedule &&
        best.schedule->collective_time() <= candidate->schedule.collective_time()) {
      continue;
    }
    best.collective = std::move(candidate->collective);
    best.schedule = std::move(candidate->schedule);
    best.engine = engine.name;
    best.trials = candidate->trials;
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
  if (problem.participants.size() == 1) {
    return trivial(topology, problem);
  }
  // A product of rings, cliques and switches is known to be connected.
  const bool symmetric = options.engine != kMatching.name && is_symmetric(topology, problem);
  const std::vector<NamedEngine> engines = choose_engines(problem, options, symmetric);
  if (!symmetric) {
    if (const auto pair = find_unreachable(topology, problem.participants)) {
      Synthesis synthesis;
      synthesis.status = SynthesisStatus::kInfeasible;
      synthesis.unreachable = pair;
      return synthesis;
    }
  }
  return run_engines(topology, problem, options, engines);
}

}  // namespace tacos
