// SPDX-License-Identifier: MIT
// tacos._c10d: makes process groups. torch.distributed must have been imported before.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <torch/extension.h>

#include "c10d/process_group.h"

namespace {

namespace py = pybind11;
using tacos::torch_backend::BackendBase;
using tacos::torch_backend::Group;
using tacos::torch_backend::GroupOptions;
using tacos::torch_backend::ProcessGroupTacos;

/// Those that nobody has destroyed. Python does not know: since 2.0 it sees process groups, which
/// have them.
struct Living {
  std::mutex mutex;
  std::vector<std::weak_ptr<Group>> groups;
};
Living living;  // NOLINT: global

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
  auto made = c10::make_intrusive<ProcessGroupTacos>(store, rank, size, options);
  const std::lock_guard lock(living.mutex);
  std::erase_if(living.groups, [](const std::weak_ptr<Group>& one) { return one.expired(); });
  living.groups.push_back(made->group());
  return made;
}

/// Before Python ends: others shall know that this rank has left, and has not died.
void leave_all() {
  std::vector<std::weak_ptr<Group>> groups;
  {
    const std::lock_guard lock(living.mutex);
    groups = std::exchange(living.groups, {});
  }
  for (const std::weak_ptr<Group>& one : groups) {
    if (const std::shared_ptr<Group> group = one.lock()) {
      group->leave();
    }
  }
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
      .def_readwrite("members", &GroupOptions::members)
      .def_readwrite("mistake", &GroupOptions::mistake)
      .def_property(
          "timeout_s",
          [](const GroupOptions& self) {
            return std::chrono::duration<double>(self.timeout).count();
          },
          [](GroupOptions& self, double seconds) {
            // Clocks count in nanoseconds, and end.
            constexpr double kTenYears = 3.2e8;
            self.timeout = std::chrono::duration_cast<std::chrono::milliseconds>(
                std::chrono::duration<double>(std::clamp(seconds, 0.0, kTenYears)));
          });
  module.def("create",
             &create,
             py::arg("store"),
             py::arg("rank"),
             py::arg("size"),
             py::arg("options"),
             py::call_guard<py::gil_scoped_release>());
  module.def("leave_all", &leave_all, py::call_guard<py::gil_scoped_release>());
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
