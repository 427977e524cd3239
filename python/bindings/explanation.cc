// SPDX-License-Identifier: MIT
// What the time of a schedule is made of, and what would help.
#include <utility>
#include <vector>

#include <pybind11/stl.h>

#include "tacos/explain.h"

#include "bindings.h"
#include "errors.h"
#include "work.h"

namespace tacos::python {
namespace {

py::list remedies(const std::vector<Remedy>& all) {
  py::list rows;
  for (const Remedy& one : all) {
    rows.append(py::make_tuple(
        one.what, one.bound.ps, one.time ? py::object(py::int_(one.time->ps)) : py::none()));
  }
  return rows;
}

py::dict explained(const Bundle& bundle, int threads, py::object listener) {
  const Explanation found = take(run(std::move(listener), [&](const Watch& watch) {
    return explain_schedule(bundle, {.threads = threads, .cancel = watch.cancel});
  }));
  py::dict dict;
  dict["bound"] = bound_dict(bundle.topology, bundle.collective, found.bound);
  dict["fill"] = found.losses.fill.ps;
  dict["drain"] = found.losses.drain.ps;
  dict["waiting"] = found.losses.waiting.ps;
  dict["latency"] = found.losses.latency.ps;
  dict["extra"] = found.losses.extra.ps;
  dict["limiting_links"] = found.losses.links;
  dict["unused_limiting_links"] = found.losses.unused;
  dict["faster_links"] = remedies(found.links);
  dict["other_problems"] = remedies(found.problems);
  return dict;
}

}  // namespace

void bind_explanation(py::module_& module) {
  module.def("explain", &explained);
}

}  // namespace tacos::python
