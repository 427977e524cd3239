// SPDX-License-Identifier: MIT
// Ours beside the algorithms that people know.
#include <memory>
#include <string>
#include <utility>

#include <pybind11/stl.h>

#include "tacos/compare.h"
#include "tacos/task.h"

#include "bindings.h"
#include "errors.h"
#include "work.h"

namespace tacos::python {
namespace {

py::dict row_dict(const Comparison& comparison, const ComparedAlgorithm& row) {
  py::dict dict;
  dict["algorithm"] = row.name;
  dict["bundle"] = std::make_shared<Bundle>(*row.bundle);
  dict["speedup"] = comparison.speedup(row);
  dict["utilization"] = row.utilization;
  dict["forwarded"] = row.forwarded;
  dict["synthesis_seconds"] = row.synthesis_seconds;
  return dict;
}

py::dict compared(const Task& task,
                  std::int64_t size,
                  const std::string& link_model,
                  std::uint64_t seed,
                  int effort,
                  int threads,
                  py::object listener) {
  Problem problem = task.problem;
  problem.size = {size};
  const LinkModel model = link_model_of(link_model);
  const Comparison comparison = take(run(std::move(listener), [&](const Watch& watch) {
    return compare(task.topology,
                   problem,
                   {.link_model = model,
                    .seed = seed,
                    .effort = effort,
                    .threads = threads,
                    .progress = watch.progress,
                    .cancel = watch.cancel});
  }));
  py::list rows;
  py::list left_out;
  for (const ComparedAlgorithm& row : comparison.rows) {
    if (row.bundle) {
      rows.append(row_dict(comparison, row));
    } else {
      left_out.append(py::make_tuple(row.name, row.failure->message));
    }
  }
  const Bundle& ours = *comparison.ours().bundle;
  py::dict dict;
  dict["size"] = comparison.size.count;
  dict["bound"] = bound_dict(ours.topology, ours.collective, comparison.bound);
  dict["rows"] = rows;
  dict["left_out"] = left_out;
  return dict;
}

}  // namespace

void bind_comparison(py::module_& module) {
  module.def("compare", &compared);
}

}  // namespace tacos::python
