// SPDX-License-Identifier: MIT
// The machine files of tests/data, and what a link of an imported network is.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tacos/import.h"

#include "base/files/file.h"

namespace tacos::testing {

[[nodiscard]] inline std::string machine_file(const std::string& name) {
  return std::string(TACOS_TEST_DATA) + "/machines/" + name;
}

[[nodiscard]] inline ImportedTopology imported(const std::string& name) {
  Result<ImportedTopology> made = load_network(machine_file(name));
  EXPECT_TRUE(made) << made.error().to_string();
  return *std::move(made);
}

[[nodiscard]] inline NodeId node_called(const Topology& topology, std::string_view name) {
  for (std::uint32_t node = 0; node < topology.num_nodes(); ++node) {
    if (topology.node_name(NodeId(node)) == name) {
      return NodeId(node);
    }
  }
  ADD_FAILURE() << "no node is called " << name;
  return NodeId(0);
}

/// In MB/s, all links together; 0 when there is none.
[[nodiscard]] inline std::int64_t megabytes_between(const Topology& topology,
                                                    std::string_view from,
                                                    std::string_view to) {
  std::int64_t sum = 0;
  for (const LinkId link : topology.out_links(node_called(topology, from))) {
    sum += topology.link(link).dst == node_called(topology, to)
               ? topology.link(link).bandwidth.bytes_per_second
               : 0;
  }
  return sum / 1'000'000;
}

/// What the importer says about a text that it refuses.
[[nodiscard]] inline std::string refusal(const std::string& text, const std::string& from = {}) {
  const Result<ImportedTopology> made =
      import_topology(text, "file", {.from = from, .latencies = {}});
  return made ? "not refused" : made.error().to_string();
}

}  // namespace tacos::testing
