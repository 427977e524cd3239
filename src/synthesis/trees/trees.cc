// SPDX-License-Identifier: MIT
#include "synthesis/trees/trees.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/rng.h"
#include "synthesis/trees/fabric.h"
#include "synthesis/trees/search.h"

namespace tacos {

bool trees_handles(const Topology& topology, const Problem& problem) {
  return problem.kind == CollectiveKind::kAllReduce && topology.num_switches() == 0 &&
         problem.participants.size() == topology.num_npus();
}

Result<Candidate> synthesize_trees(const Topology& topology,
                                   const Problem& problem,
                                   const SynthesisOptions& options) {
  if (problem.kind != CollectiveKind::kAllReduce) {
    return input_error(
        fmt::format("engine 'trees' makes all-reduce only, not {}", to_string(problem.kind)));
  }
  if (problem.participants.size() != topology.num_npus()) {
    return input_error("engine 'trees' needs every NPU of the network to take part");
  }
  // Checks the size and the number of chunks before any work.
  Result<Collective> checked = Collective::make(
      problem.kind, problem.size, problem.chunks.value_or(1), problem.participants);
  if (!checked) {
    return checked.error();
  }
  const Result<trees::Fabric> fabric = trees::Fabric::make(topology);
  if (!fabric) {
    return fabric.error();
  }
  const std::int64_t trials = options.trials.value_or(1);
  trees::Plan best;
  std::int64_t best_trial = 0;
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    trees::Search search(topology,
                         *fabric,
                         problem.size,
                         options.link_model,
                         mix64(options.seed, static_cast<std::uint64_t>(trial)));
    trees::Plan plan = problem.chunks
                           ? search.best_with(static_cast<std::uint32_t>(*problem.chunks))
                           : search.best();
    if (trial == 0 || plan.time < best.time) {
      best = std::move(plan);
      best_trial = trial;
    }
  }
  Result<Collective> collective =
      Collective::make(problem.kind, problem.size, best.chunks, problem.participants);
  if (!collective) {
    return collective.error();
  }
  const trees::Search search(topology,
                             *fabric,
                             problem.size,
                             options.link_model,
                             mix64(options.seed, static_cast<std::uint64_t>(best_trial)));
  return Candidate{
      .collective = std::move(*collective), .schedule = search.record(best), .trials = trials};
}

}  // namespace tacos
