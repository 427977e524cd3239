// SPDX-License-Identifier: MIT
// The parts of the extension module tacos._core, one function each. What is here takes numbers and
// texts apart and puts them together; the classes that people see are written in Python.
#pragma once

#include <string>

#include <pybind11/pybind11.h>

#include "tacos/bound.h"
#include "tacos/bundle.h"
#include "tacos/export.h"
#include "tacos/topology.h"

namespace tacos::python {

namespace py = pybind11;

/// A network, and which of its NPUs have failed.
using Network = DegradedTopology;

void bind_quantities(py::module_& module);
void bind_topology(py::module_& module);
void bind_schedule(py::module_& module);
void bind_synthesis(py::module_& module);
void bind_comparison(py::module_& module);
void bind_simulation(py::module_& module);
void bind_repair(py::module_& module);
void bind_failures(py::module_& module);
void bind_plan(py::module_& module);
void bind_pictures(py::module_& module);
void bind_explanation(py::module_& module);

/// Texts that name something; whoever has another gets told which there are.
[[nodiscard]] LinkModel link_model_of(const std::string& name);
[[nodiscard]] std::string engine_of(const std::string& name);
[[nodiscard]] ExportOptions export_options(bool in_place,
                                           const std::string& protocol,
                                           bool credits);

/// What a bound says, as a dict.
[[nodiscard]] py::dict bound_dict(const Topology& topology,
                                  const Collective& collective,
                                  const BoundReport& report);

}  // namespace tacos::python
