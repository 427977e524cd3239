// SPDX-License-Identifier: MIT
#include "simulate/scenario.h"

#include <utility>

#include "base/stopwatch.h"
#include "base/text/quantity.h"
#include "collective/resize.h"

namespace tacos {
namespace {

Result<Topology> slowed(const Topology& topology, const std::vector<std::string>& slow) {
  std::vector<std::string> failures;
  failures.reserve(slow.size());
  for (const std::string& text : slow) {
    failures.push_back("slow:" + text);
  }
  Result<DegradedTopology> network = apply_failures(topology, failures);
  if (network) {
    return std::move(network->topology);
  }
  Error error = std::move(network).error();
  constexpr std::string_view kPrefix = "--fail slow:";
  if (error.where.starts_with(kPrefix)) {
    error.where = "--slow " + error.where.substr(kPrefix.size());
  }
  return error;
}

}  // namespace

Result<Scenario> make_scenario(Scenario planned, const WhatIf& what_if) {
  Scenario scenario = std::move(planned);
  scenario.link_model = what_if.link_model.value_or(scenario.link_model);
  if (!what_if.slow.empty()) {
    Result<Topology> topology = slowed(scenario.topology, what_if.slow);
    if (!topology) {
      return topology.error();
    }
    scenario.topology = *std::move(topology);
  }
  if (what_if.size) {
    const Result<Bytes> size = parse_size(*what_if.size);
    if (!size) {
      return size.error();
    }
    Result<Collective> collective = resized(scenario.collective, *size);
    if (!collective) {
      return collective.error();
    }
    scenario.collective = *std::move(collective);
  }
  const ChunkTable& chunks = scenario.collective.chunks();
  if (Status fits = check_times(scenario.topology, chunks.max_bytes(), chunks.size()); !fits) {
    return fits.error();
  }
  return scenario;
}

Result<Findings> play(const Scenario& planned,
                      const Schedule& schedule,
                      const Scenario& scenario,
                      const WhatIf& what_if,
                      SimulationOptions options) {
  options.link_model = scenario.link_model;
  options.topology = what_if.slow.empty() ? nullptr : &scenario.topology;
  options.collective = what_if.size ? &scenario.collective : nullptr;
  const Stopwatch watch;
  Result<Simulation> simulation = simulate(planned.topology, planned.collective, schedule, options);
  if (!simulation) {
    return simulation.error();
  }
  Findings findings{
      .simulation = *std::move(simulation), .seconds = watch.seconds(), .jittered = {}};
  if (what_if.jitter.percent > 0) {
    Result<std::vector<Ticks>> draws =
        simulate_jitter(planned.topology, planned.collective, schedule, what_if.jitter, options);
    if (!draws) {
      return draws.error();
    }
    findings.jittered = *std::move(draws);
  }
  return findings;
}

std::string_view to_string(CriticalStep::Wait wait) {
  switch (wait) {
    case CriticalStep::Wait::kNothing:
      return "nothing";
    case CriticalStep::Wait::kData:
      return "data";
    case CriticalStep::Wait::kLink:
      return "link";
  }
  return "nothing";
}

}  // namespace tacos
