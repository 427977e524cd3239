// SPDX-License-Identifier: MIT
// Networks in files that other programs write, docs/import.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/result.h"
#include "tacos/topology.h"
#include "tacos/units.h"

namespace tacos {

struct ImportOptions {
  /// The name of a format; empty: what the text looks like.
  std::string from = {};
  /// `pcie=0.4us` and the like: latencies in place of those that docs/import.md lists.
  std::vector<std::string> latencies = {};
};

struct ImportedTopology {
  Topology topology;
  /// What was not understood and left out, or had to be assumed, a sentence each.
  std::vector<std::string> warnings;
};

/// A file format that networks are read from.
struct ImportFormat {
  std::string_view name;
  std::string_view description;
};
[[nodiscard]] std::span<const ImportFormat> import_formats();

/// `where` names the text in errors.
[[nodiscard]] Result<ImportedTopology> import_topology(std::string_view text,
                                                       const std::string& where,
                                                       const ImportOptions& options = {});

/// A spec, or a file in any of the formats; with options.from always a file.
[[nodiscard]] Result<ImportedTopology> load_network(const std::string& spec_or_file,
                                                    const ImportOptions& options = {});

/// How the boxes of a cluster are joined.
struct ClusterOptions {
  std::uint32_t boxes = 2;
  /// `switch`, `rail`, `leaf-spine:LxS` or `ring`.
  std::string fabric;
  /// So many NICs in each box, shared evenly by its NPUs, in place of those that it has; 0: those.
  std::uint32_t nics = 0;
  /// Of each NIC, one way; 0: what the box says.
  Bandwidth nic_bandwidth = {};
  /// As of ImportOptions.
  std::vector<std::string> latencies = {};
};

/// Copies of a box, whose NICs are joined by a fabric. NICs are the switches whose names begin with
/// `nic`; nodes are called `box1/gpu3`.
[[nodiscard]] Result<Topology> make_cluster(const Topology& box, const ClusterOptions& options);

}  // namespace tacos
