// SPDX-License-Identifier: MIT
// What a machine makes of a schedule, on the network that it was made for or on another.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "tacos/simulate.h"

#include "base/text/quantity.h"
#include "bindings.h"
#include "collective/resize.h"
#include "columns.h"
#include "errors.h"
#include "work.h"

namespace tacos::python {
namespace {

/// What is different from what was planned.
struct Scenario {
  std::optional<std::string> link_model;
  std::optional<std::string> size;
  std::vector<std::string> slow;
  double jitter = 0;
  std::uint64_t seed = 1;
  bool keep_schedule = false;
};

struct Findings {
  Simulation simulation;
  std::vector<Ticks> jittered;
};

const char* to_string(CriticalStep::Wait wait) {
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

std::vector<std::int64_t> picoseconds(const std::vector<Ticks>& times) {
  std::vector<std::int64_t> all;
  all.reserve(times.size());
  for (const Ticks time : times) {
    all.push_back(time.ps);
  }
  return all;
}

py::list path_list(const Topology& topology, const CriticalPath& path) {
  py::list steps;
  for (const CriticalStep& step : path.steps) {
    std::vector<std::uint32_t> links;
    for (const LinkId link : step.links) {
      links.push_back(link.value());
    }
    py::dict dict;
    dict["transfer"] = step.number;
    dict["start_us"] = to_us(step.start);
    dict["end_us"] = to_us(step.end);
    dict["src"] = topology.link(step.links.front()).src.value();
    dict["dst"] = topology.link(step.links.back()).dst.value();
    dict["chunk"] = step.chunk.value();
    dict["links"] = links;
    dict["waited_for"] = to_string(step.wait);
    steps.append(dict);
  }
  return steps;
}

/// The bundle with what is different in it.
Bundle actual_of(const Bundle& planned, const Scenario& scenario) {
  Bundle actual = planned;
  if (scenario.link_model) {
    actual.link_model = link_model_of(*scenario.link_model);
  }
  std::vector<std::string> failures;
  for (const std::string& text : scenario.slow) {
    failures.push_back("slow:" + text);
  }
  actual.topology = take(apply_failures(planned.topology, failures)).topology;
  if (scenario.size) {
    actual.collective = take(resized(planned.collective, take(parse_size(*scenario.size))));
  }
  const ChunkTable& chunks = actual.collective.chunks();
  take(check_times(actual.topology, chunks.max_bytes(), chunks.size()));
  return actual;
}

Result<Findings> simulated(const Bundle& planned,
                           const Bundle& actual,
                           const Scenario& scenario,
                           int threads,
                           const Watch& watch) {
  const SimulationOptions options{.link_model = actual.link_model,
                                  .topology = scenario.slow.empty() ? nullptr : &actual.topology,
                                  .collective = scenario.size ? &actual.collective : nullptr,
                                  .schedule = scenario.keep_schedule,
                                  .threads = threads,
                                  .progress = watch.progress,
                                  .cancel = watch.cancel};
  Result<Simulation> simulation =
      simulate(planned.topology, planned.collective, planned.schedule, options);
  if (!simulation) {
    return simulation.error();
  }
  Findings findings{.simulation = *std::move(simulation), .jittered = {}};
  if (scenario.jitter > 0) {
    Result<std::vector<Ticks>> draws =
        simulate_jitter(planned.topology,
                        planned.collective,
                        planned.schedule,
                        {.percent = scenario.jitter, .seed = scenario.seed},
                        options);
    if (!draws) {
      return draws.error();
    }
    findings.jittered = *std::move(draws);
  }
  return findings;
}

py::dict simulation_dict(const Bundle& planned,
                         const Scenario& scenario,
                         int threads,
                         py::object listener) {
  const Bundle actual = actual_of(planned, scenario);
  Findings findings = take(run(std::move(listener), [&](const Watch& watch) {
    return simulated(planned, actual, scenario, threads, watch);
  }));
  const Simulation& simulation = findings.simulation;
  py::dict dict;
  dict["time"] = simulation.time.ps;
  dict["busy"] = owned_array(picoseconds(simulation.busy));
  dict["utilization"] = simulation.utilization(actual.topology);
  dict["latency"] = simulation.critical_path.latency.ps;
  dict["serialization"] = simulation.critical_path.serialization.ps;
  dict["waiting"] = simulation.critical_path.waiting.ps;
  dict["critical_path"] = path_list(actual.topology, simulation.critical_path);
  dict["jittered"] = owned_array(picoseconds(findings.jittered));
  dict["bundle"] = py::none();
  if (simulation.schedule) {
    auto made = std::make_shared<Bundle>(actual);
    made->schedule = *simulation.schedule;
    dict["bundle"] = made;
  }
  return dict;
}

}  // namespace

void bind_simulation(py::module_& module) {
  py::class_<Scenario>(module, "Scenario")
      .def(py::init<>())
      .def_readwrite("link_model", &Scenario::link_model)
      .def_readwrite("size", &Scenario::size)
      .def_readwrite("slow", &Scenario::slow)
      .def_readwrite("jitter", &Scenario::jitter)
      .def_readwrite("seed", &Scenario::seed)
      .def_readwrite("keep_schedule", &Scenario::keep_schedule);
  module.def("simulate", &simulation_dict);
}

}  // namespace tacos::python
