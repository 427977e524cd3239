// SPDX-License-Identifier: MIT
// The parts of the extension module tacos._core, one function each. What is here takes numbers and
// texts apart and puts them together; the classes that people see are written in Python.
#pragma once

#include <optional>
#include <string>

#include <pybind11/pybind11.h>

#include "tacos/topology.h"

namespace tacos::python {

namespace py = pybind11;

/// A network, and which of its NPUs have failed.
using Network = DegradedTopology;

void bind_quantities(py::module_& module);
void bind_topology(py::module_& module);

[[nodiscard]] LinkModel link_model_of(const std::string& name);

}  // namespace tacos::python
