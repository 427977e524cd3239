// SPDX-License-Identifier: MIT
// The extension module tacos._core.
#include <stdexcept>

#include "bindings.h"
#include "errors.h"

namespace {

namespace py = pybind11;

/// What the library throws when it is called against its documentation is bad input here: nobody
/// calls it by hand.
void translate(std::exception_ptr thrown) {
  try {
    if (thrown) {
      std::rethrow_exception(thrown);
    }
  } catch (const std::invalid_argument& error) {
    try {
      tacos::python::raise(tacos::input_error(error.what()));
    } catch (py::error_already_set& raised) {
      raised.restore();
    }
  }
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "What the package tacos is made of; import that instead.";
  py::register_exception_translator(&translate);
  tacos::python::bind_quantities(module);
  tacos::python::bind_topology(module);
  tacos::python::bind_schedule(module);
  tacos::python::bind_synthesis(module);
  tacos::python::bind_comparison(module);
  tacos::python::bind_simulation(module);
  tacos::python::bind_repair(module);
  tacos::python::bind_failures(module);
  tacos::python::bind_plan(module);
  tacos::python::bind_pictures(module);
  tacos::python::bind_explanation(module);
}
