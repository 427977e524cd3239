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

#include "bindings.h"
#include "columns.h"
#include "errors.h"
#include "simulate/scenario.h"
#include "work.h"

namespace tacos::python {
namespace {

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
    dict["waited_for"] = std::string(to_string(step.wait));
    steps.append(dict);
  }
  return steps;
}

Scenario as_planned(const Bundle& bundle) {
  return {.topology = bundle.topology,
          .collective = bundle.collective,
          .link_model = bundle.link_model};
}

py::dict simulation_dict(const Bundle& planned,
                         const WhatIf& what_if,
                         bool keep_schedule,
                         int threads,
                         py::object listener) {
  const Scenario scenario = take(make_scenario(as_planned(planned), what_if));
  const Findings findings = take(run(std::move(listener), [&](const Watch& watch) {
    return play(as_planned(planned),
                planned.schedule,
                scenario,
                what_if,
                {.schedule = keep_schedule,
                 .threads = threads,
                 .progress = watch.progress,
                 .cancel = watch.cancel});
  }));
  const Simulation& simulation = findings.simulation;
  py::dict dict;
  dict["time"] = simulation.time.ps;
  dict["busy"] = owned_array(picoseconds(simulation.busy));
  dict["utilization"] = simulation.utilization(scenario.topology);
  dict["latency"] = simulation.critical_path.latency.ps;
  dict["serialization"] = simulation.critical_path.serialization.ps;
  dict["waiting"] = simulation.critical_path.waiting.ps;
  dict["critical_path"] = path_list(scenario.topology, simulation.critical_path);
  dict["jittered"] = owned_array(picoseconds(findings.jittered));
  dict["bundle"] = py::none();
  if (simulation.schedule) {
    dict["bundle"] = std::make_shared<Bundle>(Bundle{.topology = scenario.topology,
                                                     .collective = scenario.collective,
                                                     .link_model = scenario.link_model,
                                                     .schedule = *simulation.schedule,
                                                     .engine = planned.engine,
                                                     .seed = planned.seed});
  }
  return dict;
}

}  // namespace

void bind_simulation(py::module_& module) {
  py::class_<WhatIf>(module, "WhatIf")
      .def(py::init([](const std::optional<std::string>& link_model,
                       std::optional<std::string> size,
                       std::vector<std::string> slow,
                       double jitter,
                       std::uint64_t seed) {
        WhatIf made{.size = std::move(size), .slow = std::move(slow)};
        made.jitter = {.percent = jitter, .seed = seed};
        if (link_model) {
          made.link_model = link_model_of(*link_model);
        }
        return made;
      }));
  module.def("simulate", &simulation_dict);
}

}  // namespace tacos::python
