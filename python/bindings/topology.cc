// SPDX-License-Identifier: MIT
// Networks: from specs, files and arrays; their links as columns.
#include "tacos/topology.h"

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "tacos/import.h"

#include "bindings.h"
#include "columns.h"
#include "errors.h"

namespace tacos::python {
namespace {

using Numbers = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

py::list texts_of(std::span<const std::string> all) {
  py::list list;
  for (const std::string& one : all) {
    list.append(text_of(one));
  }
  return list;
}

py::tuple loaded(Result<ImportedTopology> imported) {
  ImportedTopology taken = take(std::move(imported));
  return py::make_tuple(Network{std::move(taken.topology), {}}, texts_of(taken.warnings));
}

Network from_links(const std::string& name,
                   std::uint32_t npus,
                   std::uint32_t switches,
                   const Numbers& links,
                   std::vector<std::string> names,
                   bool forward) {
  constexpr py::ssize_t kColumns = 6;
  if (links.ndim() != 2 || links.shape(1) != kColumns) {
    raise(input_error("links are rows of six numbers"));
  }
  TopologyBuilder builder(name, npus, switches);
  builder.set_npus_forward(forward);
  builder.set_node_names(std::move(names));
  const auto table = links.unchecked<2>();
  builder.reserve_links(static_cast<std::size_t>(table.shape(0)));
  for (py::ssize_t i = 0; i < table.shape(0); ++i) {
    const auto node = [&](py::ssize_t column) {
      const std::int64_t id = table(i, column);
      // Whatever is no id becomes one that no node has.
      return id < 0 || id > std::int64_t{kMaxNodes} ? NodeId()
                                                    : NodeId(static_cast<std::uint32_t>(id));
    };
    const Link link{.src = node(0),
                    .dst = node(1),
                    .bandwidth = {table(i, 2)},
                    .latency = {table(i, 3)},
                    .gap = {table(i, 4)}};
    if (table(i, 5) != 0) {
      builder.add_failed_link(link);
    } else {
      builder.add_link(link);
    }
  }
  return {take(std::move(builder).build()), {}};
}

template <class T, class Read>
py::array column(const Topology& topology, const Read& read) {
  std::vector<T> values;
  values.reserve(topology.num_links());
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    values.push_back(static_cast<T>(read(LinkId(id))));
  }
  return owned_array(std::move(values));
}

py::dict link_columns(const Topology& topology) {
  const auto link = [&](LinkId id) -> const Link& { return topology.link(id); };
  py::dict columns;
  columns["src"] = column<std::uint32_t>(topology, [&](LinkId id) { return link(id).src.value(); });
  columns["dst"] = column<std::uint32_t>(topology, [&](LinkId id) { return link(id).dst.value(); });
  columns["bandwidth"] = column<std::int64_t>(
      topology, [&](LinkId id) { return link(id).bandwidth.bytes_per_second; });
  columns["latency"] =
      column<std::int64_t>(topology, [&](LinkId id) { return link(id).latency.ps; });
  columns["gap"] = column<std::int64_t>(topology, [&](LinkId id) { return link(id).gap.ps; });
  columns["failed"] = column<std::uint8_t>(topology, [&](LinkId id) {
                        return topology.failed(id) ? 1 : 0;
                      }).attr("view")("bool");
  return columns;
}

const char* to_string(Wiring wiring) {
  switch (wiring) {
    case Wiring::kLine:
      return "line";
    case Wiring::kRing:
      return "ring";
    case Wiring::kFullyConnected:
      return "fully-connected";
    case Wiring::kSwitch:
      return "switch";
  }
  return "line";
}

Network cluster(const Network& box,
                std::uint32_t boxes,
                const std::string& fabric,
                std::uint32_t nics,
                std::int64_t nic_bandwidth,
                std::vector<std::string> latencies) {
  return {take(make_cluster(box.topology,
                            {.boxes = boxes,
                             .fabric = fabric,
                             .nics = nics,
                             .nic_bandwidth = {nic_bandwidth},
                             .latencies = std::move(latencies)})),
          {}};
}

/// Failures of before stay, those of NPUs too.
Network fail(const Network& network, const std::vector<std::string>& failures) {
  Network now = take(apply_failures(network.topology, failures));
  std::vector<NodeId> failed;
  std::set_union(network.failed_npus.begin(),
                 network.failed_npus.end(),
                 now.failed_npus.begin(),
                 now.failed_npus.end(),
                 std::back_inserter(failed));
  now.failed_npus = std::move(failed);
  return now;
}

}  // namespace

void bind_topology(py::module_& module) {
  py::class_<Network>(module, "Topology")
      .def_property_readonly("name",
                             [](const Network& self) { return text_of(self.topology.name()); })
      .def_property_readonly("num_npus",
                             [](const Network& self) { return self.topology.num_npus(); })
      .def_property_readonly("num_switches",
                             [](const Network& self) { return self.topology.num_switches(); })
      .def_property_readonly("num_links",
                             [](const Network& self) { return self.topology.num_links(); })
      .def_property_readonly("num_working_links",
                             [](const Network& self) { return self.topology.num_working_links(); })
      .def_property_readonly("npus_forward",
                             [](const Network& self) { return self.topology.npus_forward(); })
      .def_property_readonly(
          "node_names", [](const Network& self) { return texts_of(self.topology.node_names()); })
      .def_property_readonly("failed_npus",
                             [](const Network& self) {
                               std::vector<std::uint32_t> failed;
                               for (const NodeId npu : self.failed_npus) {
                                 failed.push_back(npu.value());
                               }
                               return failed;
                             })
      .def_property_readonly("dimensions",
                             [](const Network& self) {
                               std::vector<std::pair<std::string, std::uint32_t>> all;
                               if (has_product_structure(self.topology)) {
                                 for (const Dimension& one : self.topology.dimensions()) {
                                   all.emplace_back(to_string(one.wiring), one.length);
                                 }
                               }
                               return all;
                             })
      .def("link_columns", [](const Network& self) { return link_columns(self.topology); })
      .def("to_json", [](const Network& self) { return topology_to_json(self.topology); })
      .def("fail", &fail)
      .def("with_forwarding",
           [](const Network& self, bool forward) {
             return Network{self.topology.with_forwarding(forward), self.failed_npus};
           })
      .def("with_failed_npus",
           [](const Network& self, const std::vector<std::uint32_t>& npus) {
             Network made{self.topology, {}};
             for (const std::uint32_t npu : npus) {
               if (npu >= made.topology.num_npus()) {
                 raise(input_error(fmt::format("NPU {} does not exist", npu)));
               }
               made.failed_npus.emplace_back(npu);
             }
             return made;
           })
      .def("cluster", &cluster)
      .def("__eq__", [](const Network& self, const Network& other) {
        return self.topology == other.topology;
      });
  module.def("load_topology",
             [](const std::string& text, std::string from, std::vector<std::string> latencies) {
               return loaded(load_network(
                   text, {.from = std::move(from), .latencies = std::move(latencies)}));
             });
  module.def("parse_topology",
             [](const std::string& text,
                const std::string& where,
                std::string from,
                std::vector<std::string> latencies) {
               return loaded(import_topology(
                   text, where, {.from = std::move(from), .latencies = std::move(latencies)}));
             });
  module.def("make_topology", &from_links);
}

}  // namespace tacos::python
