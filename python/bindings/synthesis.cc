// SPDX-License-Identifier: MIT
// Tasks, and what is made of them: a schedule that is verified and bounded.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "tacos/bound.h"
#include "tacos/synthesize.h"
#include "tacos/task.h"
#include "tacos/verify.h"

#include "base/stopwatch.h"
#include "base/text/suggest.h"
#include "bindings.h"
#include "columns.h"
#include "errors.h"
#include "outcome.h"
#include "topology/unreachable.h"
#include "work.h"

namespace tacos::python {
namespace {

Task task_of(const Network& network,
             const std::string& collective,
             std::optional<std::string> text,
             std::optional<std::string> size,
             std::optional<std::string> group,
             bool relay) {
  const TaskWords words{.collective = collective,
                        .collective_text = std::move(text),
                        .size = std::move(size),
                        .group = std::move(group),
                        .no_relay = !relay};
  take(check_words(words));
  return take(make_task(words, network));
}

/// How to synthesize, as keywords say it.
struct Wishes {
  std::optional<std::int64_t> chunks;
  std::string engine = "auto";
  std::optional<std::string> form;
  std::string link_model = "hold";
  int effort = kDefaultEffort;
  std::uint64_t seed = 1;
  std::optional<std::int64_t> trials;
  int threads = 1;
  std::string stream;
};

std::optional<CollectiveForm> form_of(const std::optional<std::string>& name) {
  return name ? std::optional(take(parse_collective_form(*name))) : std::nullopt;
}

Outcome synthesized(const Task& task, const Wishes& wishes, py::object listener) {
  Problem problem = task.problem;
  problem.chunks = wishes.chunks;
  problem.form = form_of(wishes.form);
  if (problem.custom && problem.chunks) {
    raise(input_error("the collective has its chunks in its file; leave out --chunks"));
  }
  const std::string engine = engine_of(wishes.engine);
  const LinkModel link_model = link_model_of(wishes.link_model);
  return take(run(std::move(listener), [&](const Watch& watch) -> Result<Outcome> {
    Stages stages(watch, {.synthesis = 0.8, .verification = 0.15});
    const Stopwatch watching;
    Result<Synthesis> made = synthesize(task.topology,
                                        problem,
                                        {.engine = engine,
                                         .link_model = link_model,
                                         .seed = wishes.seed,
                                         .effort = wishes.effort,
                                         .trials = wishes.trials,
                                         .threads = wishes.threads,
                                         .stream_directory = wishes.stream,
                                         .progress = stages.synthesis(),
                                         .cancel = watch.cancel});
    if (!made) {
      return made.error();
    }
    if (made->status == SynthesisStatus::kInfeasible) {
      return unreachable_error(task.topology, *made->unreachable);
    }
    Outcome outcome{.bundle = std::make_shared<Bundle>(Bundle{.topology = task.topology,
                                                              .collective = *made->collective,
                                                              .link_model = link_model,
                                                              .schedule = *made->schedule,
                                                              .engine = made->engine,
                                                              .seed = wishes.seed})};
    outcome.trials = made->trials;
    outcome.compared = std::move(made->compared);
    outcome.synthesis_seconds = watching.seconds();
    return examined(std::move(outcome), stages, wishes.threads);
  }));
}

py::dict bounded(const Task& task, const std::string& link_model, py::object listener) {
  const Problem& asked = task.problem;
  // Bounds hold for any chunking, so one chunk is as good as many.
  const Collective collective =
      asked.custom
          ? *asked.custom
          : take(Collective::make(asked.kind, asked.size, 1, asked.participants, asked.root));
  const LinkModel model = link_model_of(link_model);
  const BoundReport report = take(run(std::move(listener), [&](const Watch& watch) {
    return compute_bounds(task.topology, collective, {.link_model = model, .cancel = watch.cancel});
  }));
  if (report.status == BoundStatus::kInfeasible) {
    raise(unreachable_error(task.topology, *report.unreachable));
  }
  return bound_dict(task.topology, collective, report);
}

/// Of what a schedule was made for.
py::dict bound_of(const Bundle& bundle, py::object listener) {
  return bound_dict(
      bundle.topology, bundle.collective, take(run(std::move(listener), [&](const Watch& watch) {
        return compute_bounds(bundle.topology,
                              bundle.collective,
                              {.effort = effort_beside_schedule(bundle.topology),
                               .link_model = bundle.link_model,
                               .cancel = watch.cancel});
      })));
}

std::vector<std::uint32_t> numbers(const std::vector<NodeId>& nodes) {
  std::vector<std::uint32_t> all;
  all.reserve(nodes.size());
  for (const NodeId node : nodes) {
    all.push_back(node.value());
  }
  return all;
}

void bind_task(py::module_& module) {
  py::class_<Task>(module, "Task")
      .def_property_readonly("topology",
                             [](const Task& self) {
                               return Network{self.topology, {}};
                             })
      .def_property_readonly("size", [](const Task& self) { return self.problem.size.count; })
      .def_property_readonly(
          "kind", [](const Task& self) { return std::string(to_string(self.problem.kind)); })
      .def_property_readonly("participants",
                             [](const Task& self) { return numbers(self.problem.participants); })
      .def_property_readonly("root", [](const Task& self) {
        const auto root = self.problem.root;
        return root ? std::optional(root->value()) : std::nullopt;
      });
  module.def("make_task", &task_of);
  py::class_<Wishes>(module, "Wishes")
      .def(py::init<>())
      .def_readwrite("chunks", &Wishes::chunks)
      .def_readwrite("engine", &Wishes::engine)
      .def_readwrite("form", &Wishes::form)
      .def_readwrite("link_model", &Wishes::link_model)
      .def_readwrite("effort", &Wishes::effort)
      .def_readwrite("seed", &Wishes::seed)
      .def_readwrite("trials", &Wishes::trials)
      .def_readwrite("threads", &Wishes::threads)
      .def_readwrite("stream", &Wishes::stream);
}

py::list compared(const Outcome& outcome) {
  py::list rows;
  for (const Synthesis::Comparison& one : outcome.compared) {
    rows.append(py::make_tuple(
        one.engine,
        std::string(to_string(one.form)),
        one.left_out ? py::object(py::none()) : py::object(py::int_(one.collective_time.ps))));
  }
  return rows;
}

}  // namespace

std::string engine_of(const std::string& name) {
  const auto known = engine_names();
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    raise(input_error(unknown_name("engine", name, known)));
  }
  return name;
}

py::dict bound_dict(const Topology& topology,
                    const Collective& collective,
                    const BoundReport& report) {
  const auto one = [&](const Bound& bound) {
    py::dict dict;
    dict["time"] = bound.time.ps;
    dict["name"] = bound.name;
    dict["exact"] = bound.exact;
    dict["text"] = explain(topology, collective, bound.certificate);
    dict["receivers"] = numbers(bound.certificate.receivers);
    dict["parts"] = bound.certificate.parts;
    dict["lengths"] = bound.certificate.lengths;
    return dict;
  };
  py::dict dict;
  dict["best"] = one(report.best);
  dict["bandwidth"] = one(report.bandwidth);
  dict["chunk_count"] =
      report.chunk_count ? py::object(py::int_(report.chunk_count->time.ps)) : py::none();
  dict["attainable"] = report.attainable ? py::object(py::int_(report.attainable->ps)) : py::none();
  return dict;
}

void bind_synthesis(py::module_& module) {
  bind_task(module);
  py::class_<Outcome>(module, "Outcome")
      .def_property_readonly("bundle", [](const Outcome& self) { return self.bundle; })
      .def_property_readonly("bound",
                             [](const Outcome& self) {
                               return bound_dict(
                                   self.bundle->topology, self.bundle->collective, self.bound);
                             })
      .def_property_readonly("compared", &compared)
      .def_readonly("trials", &Outcome::trials)
      .def_readonly("violations", &Outcome::violations)
      .def_readonly("synthesis_seconds", &Outcome::synthesis_seconds)
      .def_readonly("verify_seconds", &Outcome::verify_seconds)
      .def_readonly("bound_seconds", &Outcome::bound_seconds);
  module.def("synthesize", &synthesized);
  module.def("bound", &bounded);
  module.def("bound_of", &bound_of);
}

}  // namespace tacos::python
