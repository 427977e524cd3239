// SPDX-License-Identifier: MIT
// tacos._c10d: makes process groups. torch.distributed must have been imported before.
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <torch/extension.h>

#include "c10d/process_group.h"

namespace {

namespace py = pybind11;
using tacos::torch_backend::BackendBase;
using tacos::torch_backend::GroupOptions;
using tacos::torch_backend::ProcessGroupTacos;

ProcessGroupTacos& ours(const c10::intrusive_ptr<BackendBase>& group) {
  auto* const one = dynamic_cast<ProcessGroupTacos*>(group.get());
  if (one == nullptr) {
    throw py::type_error("this process group is not one of tacos");
  }
  return *one;
}

c10::intrusive_ptr<BackendBase> create(const c10::intrusive_ptr<c10d::Store>& store,
                                       int rank,
                                       int size,
                                       const GroupOptions& options) {
  return c10::make_intrusive<ProcessGroupTacos>(store, rank, size, options);
}

}  // namespace

PYBIND11_MODULE(_c10d, module) {
  py::class_<GroupOptions>(module, "Options")
      .def(py::init<>())
      .def_readwrite("plan", &GroupOptions::plan)
      .def_readwrite("topology", &GroupOptions::topology)
      .def_readwrite("map", &GroupOptions::map)
      .def_readwrite("npus", &GroupOptions::npus)
      .def_readwrite("world", &GroupOptions::world)
      .def_readwrite("transport", &GroupOptions::transport)
      .def_readwrite("trace", &GroupOptions::trace)
      .def_readwrite("name", &GroupOptions::name)
      .def_readwrite("effort", &GroupOptions::effort)
      .def_readwrite("verbose", &GroupOptions::verbose)
      .def_readwrite("helps", &GroupOptions::helps)
      .def_property(
          "timeout_s",
          [](const GroupOptions& self) {
            return std::chrono::duration<double>(self.timeout).count();
          },
          [](GroupOptions& self, double seconds) {
            self.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::duration<double>(seconds));
          });
  module.def("create",
             &create,
             py::arg("store"),
             py::arg("rank"),
             py::arg("size"),
             py::arg("options"),
             py::call_guard<py::gil_scoped_release>());
  module.def(
      "leave",
      [](const c10::intrusive_ptr<BackendBase>& group) { ours(group).leave(); },
      py::call_guard<py::gil_scoped_release>());
  module.def("counts",
             [](const c10::intrusive_ptr<BackendBase>& group) { return ours(group).counts(); });
  module.def("npus", [](const c10::intrusive_ptr<BackendBase>& group) {
    std::vector<std::uint32_t> npus;
    for (const tacos::NodeId npu : ours(group).npus()) {
      npus.push_back(npu.value());
    }
    return npus;
  });
  module.attr("torch_version") = TORCH_VERSION;
}
