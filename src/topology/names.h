// SPDX-License-Identifier: MIT
// Nodes as people call them.
#pragma once

#include <string>

#include "tacos/topology.h"

namespace tacos {

/// "NPU 3", with its name where it has one: "NPU 3 (box0/gpu3)".
[[nodiscard]] std::string npu_text(const Topology& topology, NodeId npu);

/// Its name, or its number where it has none.
[[nodiscard]] std::string short_name(const Topology& topology, NodeId node);

}  // namespace tacos
