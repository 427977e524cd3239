// SPDX-License-Identifier: MIT
// Numbers with units, and the names that options take.
#include <string>
#include <vector>

#include <pybind11/stl.h>

#include "tacos/collective.h"
#include "tacos/export.h"
#include "tacos/import.h"
#include "tacos/synthesize.h"

#include "base/text/quantity.h"
#include "base/text/suggest.h"
#include "bindings.h"
#include "errors.h"

namespace tacos::python {
namespace {

template <class Rows, class Name>
std::vector<std::string> names(const Rows& rows, const Name& name) {
  std::vector<std::string> all;
  for (const auto& row : rows) {
    all.emplace_back(name(row));
  }
  return all;
}

}  // namespace

LinkModel link_model_of(const std::string& name) {
  for (const LinkModel model : {LinkModel::kHold, LinkModel::kPipelined}) {
    if (name == to_string(model)) {
      return model;
    }
  }
  const std::vector<std::string_view> known{to_string(LinkModel::kHold),
                                            to_string(LinkModel::kPipelined)};
  raise(input_error(unknown_name("link model", name, known)));
}

void bind_quantities(py::module_& module) {
  module.def("parse_size", [](const std::string& text) { return take(parse_size(text)).count; });
  module.def("parse_bandwidth",
             [](const std::string& text) { return take(parse_bandwidth(text)).bytes_per_second; });
  module.def("parse_time", [](const std::string& text) { return take(parse_time(text)).ps; });
  module.def("format_size", [](std::int64_t bytes) { return format_size({bytes}); });
  module.def("format_bandwidth", [](std::int64_t rate) { return format_bandwidth({rate}); });
  module.def("format_time", [](std::int64_t ps) { return format_time({ps}); });
  module.def("format_count", &format_count);
  const auto as_is = [](std::string_view name) { return name; };
  module.def("engine_names", [=] { return names(engine_names(), as_is); });
  module.def("baseline_names", [=] { return names(baseline_names(), as_is); });
  module.def("collective_names", [] {
    return names(collective_kinds(), [](CollectiveKind kind) { return to_string(kind); });
  });
  module.def("export_formats", [] {
    return names(export_formats(), [](const ExportFormat& format) { return format.name; });
  });
  module.def("import_formats", [] {
    return names(import_formats(), [](const ImportFormat& format) { return format.name; });
  });
  module.def("topology_kinds", [] {
    std::vector<std::pair<std::string, std::string>> kinds;
    for (const TopologyKind& kind : topology_kinds()) {
      kinds.emplace_back(kind.form, kind.description);
    }
    return kinds;
  });
}

}  // namespace tacos::python
