// SPDX-License-Identifier: MIT
#include "topology/names.h"

#include <string_view>

#include <fmt/format.h>

namespace tacos {

std::string npu_text(const Topology& topology, NodeId npu) {
  const std::string text = fmt::format("NPU {}", npu.value());
  const std::string_view name = topology.node_name(npu);
  return name.empty() ? text : fmt::format("{} ({})", text, name);
}

std::string short_name(const Topology& topology, NodeId node) {
  const std::string_view name = topology.node_name(node);
  return name.empty() ? fmt::format("{}", node.value()) : std::string(name);
}

}  // namespace tacos
