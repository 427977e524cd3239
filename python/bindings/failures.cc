// SPDX-License-Identifier: MIT
// What failures cost before any has happened: the answers to each of them, and how a collective
// gets slower as more and more links fail.
#include <string>
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "tacos/contingency.h"
#include "tacos/resilience.h"
#include "tacos/task.h"

#include "bindings.h"
#include "errors.h"
#include "work.h"

namespace tacos::python {
namespace {

py::dict contingency_dict(const ContingencyPlan& plan) {
  py::list rows;
  for (const Contingency& row : plan.rows) {
    rows.append(py::make_tuple(row.failure,
                               row.like,
                               row.file,
                               row.time.ps,
                               row.bound.ps,
                               row.kept_transfers,
                               row.new_transfers));
  }
  py::dict dict;
  dict["network"] = text_of(plan.network);
  dict["collective"] = text_of(plan.collective);
  dict["link_model"] = std::string(to_string(plan.link_model));
  dict["time"] = plan.time.ps;
  dict["bound"] = plan.bound.ps;
  dict["rows"] = rows;
  return dict;
}

/// What both are asked with.
struct FailureWishes {
  std::string link_model = "hold";
  std::uint64_t seed = 1;
  int effort = kDefaultEffort;
  std::uint32_t draws = 5;
  int threads = 1;
};

py::dict contingency(const Task& task,
                     const FailureWishes& wishes,
                     const std::string& folder,
                     py::object listener) {
  const LinkModel model = link_model_of(wishes.link_model);
  return contingency_dict(take(run(std::move(listener), [&](const Watch& watch) {
    return make_contingency(task.topology,
                            task.problem,
                            {.link_model = model,
                             .seed = wishes.seed,
                             .effort = wishes.effort,
                             .threads = wishes.threads,
                             .progress = watch.progress,
                             .cancel = watch.cancel},
                            folder);
  })));
}

py::list resilience(const Task& task, const FailureWishes& wishes, py::object listener) {
  const LinkModel model = link_model_of(wishes.link_model);
  const std::vector<ResilienceRow> found = take(run(std::move(listener), [&](const Watch& watch) {
    return measure_resilience(task.topology,
                              task.problem,
                              {.link_model = model,
                               .seed = wishes.seed,
                               .effort = wishes.effort,
                               .draws = wishes.draws,
                               .threads = wishes.threads,
                               .progress = watch.progress,
                               .cancel = watch.cancel});
  }));
  py::list rows;
  for (const ResilienceRow& row : found) {
    rows.append(py::make_tuple(row.failed_percent,
                               row.failed_cables,
                               row.connected,
                               row.cut_off,
                               row.mean_time.ps,
                               row.worst_time.ps,
                               row.mean_bound.ps));
  }
  return rows;
}

}  // namespace

void bind_failures(py::module_& module) {
  py::class_<FailureWishes>(module, "FailureWishes")
      .def(py::init<>())
      .def_readwrite("link_model", &FailureWishes::link_model)
      .def_readwrite("seed", &FailureWishes::seed)
      .def_readwrite("effort", &FailureWishes::effort)
      .def_readwrite("draws", &FailureWishes::draws)
      .def_readwrite("threads", &FailureWishes::threads);
  module.def("contingency", &contingency);
  module.def("read_contingency", [](const std::string& folder) {
    return contingency_dict(take(read_contingency(folder)));
  });
  module.def("resilience", &resilience);
}

}  // namespace tacos::python
