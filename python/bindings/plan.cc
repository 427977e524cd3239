// SPDX-License-Identifier: MIT
// Folders of schedules for all sizes.
#include "tacos/plan.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/stl.h>

#include "tacos/task.h"

#include "base/text/quantity.h"
#include "bindings.h"
#include "errors.h"
#include "work.h"

namespace tacos::python {
namespace {

py::dict entry_dict(const PlanEntry& entry) {
  std::vector<std::uint32_t> participants;
  for (const NodeId npu : entry.participants) {
    participants.push_back(npu.value());
  }
  py::list points;
  for (const PlanPoint& point : entry.points) {
    points.append(py::make_tuple(point.size.count, point.time.ps, point.bound.ps));
  }
  py::dict dict;
  dict["collective"] = entry.root ? fmt::format("{}:{}", to_string(entry.kind), entry.root->value())
                                  : std::string(to_string(entry.kind));
  dict["participants"] = participants;
  dict["least"] = entry.least.count;
  dict["most"] = entry.most.count;
  dict["file"] = entry.file;
  dict["exported"] = entry.exported;
  dict["engine"] = entry.engine;
  dict["form"] = std::string(to_string(entry.form));
  dict["chunks"] = entry.chunks;
  dict["points"] = points;
  return dict;
}

py::dict plan_dict(const Plan& plan) {
  py::list entries;
  for (const PlanEntry& entry : plan.entries) {
    entries.append(entry_dict(entry));
  }
  py::dict dict;
  dict["network"] = text_of(plan.network);
  dict["npus"] = plan.npus;
  dict["link_model"] = std::string(to_string(plan.link_model));
  dict["least"] = plan.least.count;
  dict["most"] = plan.most.count;
  dict["format"] = plan.format;
  dict["entries"] = entries;
  return dict;
}

/// What a plan is asked for, as keywords say it.
struct PlanWishes {
  std::vector<std::string> collectives;
  std::string least;
  std::string most;
  std::vector<std::string> groups;
  std::string link_model = "hold";
  std::uint64_t seed = 1;
  int effort = kDefaultEffort;
  std::string format;
  bool in_place = false;
  std::string protocol = "Simple";
  bool credits = false;
  int threads = 1;
};

PlanOptions options_of(const Network& network, const PlanWishes& wishes) {
  PlanOptions options{.collectives = {},
                      .least = take(parse_size(wishes.least)),
                      .most = take(parse_size(wishes.most)),
                      .link_model = link_model_of(wishes.link_model),
                      .seed = wishes.seed,
                      .effort = wishes.effort,
                      .exported = export_options(wishes.in_place, wishes.protocol, wishes.credits),
                      .threads = wishes.threads};
  if (options.least > options.most) {
    raise(input_error(
        fmt::format("{} is more than {}", format_size(options.least), format_size(options.most)),
        "--sizes"));
  }
  for (const std::string& text : wishes.collectives) {
    const CollectiveName name = take(parse_collective_name(text));
    if (std::find(options.collectives.begin(), options.collectives.end(), name) !=
        options.collectives.end()) {
      raise(input_error(fmt::format("lists {} twice", text), "--collectives"));
    }
    options.collectives.push_back(name);
  }
  if (options.collectives.empty()) {
    raise(input_error("is missing", "--collectives"));
  }
  if (wishes.effort < kLeastEffort || wishes.effort > kMostEffort || wishes.threads < 1) {
    raise(input_error("effort must be 1 to 9, and threads 1 or more"));
  }
  if (!wishes.format.empty()) {
    options.format = take(find_export_format(wishes.format));
    take(check_options(*options.format, options.exported));
  }
  if (wishes.groups.empty() && !network.failed_npus.empty()) {
    options.groups.push_back(take(choose_participants(std::nullopt, network)));
  }
  for (const std::string& text : wishes.groups) {
    options.groups.push_back(take(choose_participants(text, network)));
  }
  return options;
}

}  // namespace

void bind_plan(py::module_& module) {
  py::class_<PlanWishes>(module, "PlanWishes")
      .def(py::init<>())
      .def_readwrite("collectives", &PlanWishes::collectives)
      .def_readwrite("least", &PlanWishes::least)
      .def_readwrite("most", &PlanWishes::most)
      .def_readwrite("groups", &PlanWishes::groups)
      .def_readwrite("link_model", &PlanWishes::link_model)
      .def_readwrite("seed", &PlanWishes::seed)
      .def_readwrite("effort", &PlanWishes::effort)
      .def_readwrite("format", &PlanWishes::format)
      .def_readwrite("in_place", &PlanWishes::in_place)
      .def_readwrite("protocol", &PlanWishes::protocol)
      .def_readwrite("credits", &PlanWishes::credits)
      .def_readwrite("threads", &PlanWishes::threads);
  module.def("make_plan",
             [](const Network& network,
                const PlanWishes& wishes,
                const std::string& folder,
                py::object listener) {
               PlanOptions options = options_of(network, wishes);
               return plan_dict(take(run(std::move(listener), [&](const Watch& watch) {
                 options.progress = watch.progress;
                 options.cancel = watch.cancel;
                 return make_plan(network.topology, options, folder);
               })));
             });
  module.def("read_plan",
             [](const std::string& folder) { return plan_dict(take(read_plan(folder))); });
}

}  // namespace tacos::python
