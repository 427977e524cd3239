// SPDX-License-Identifier: MIT
#include "topology/unreachable.h"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tacos {
namespace {

/// "NPU 3", with its name where it has one.
std::string npu_text(const Topology& topology, NodeId npu) {
  const std::string text = fmt::format("NPU {}", npu.value());
  const std::string_view name = topology.node_name(npu);
  return name.empty() ? text : fmt::format("{} ({})", text, name);
}

}  // namespace

Error unreachable_error(const Topology& topology, std::pair<NodeId, NodeId> pair) {
  return {.code = ErrorCode::kInfeasible,
          .message = fmt::format("no schedule exists: {} cannot reach {}",
                                 npu_text(topology, pair.first),
                                 npu_text(topology, pair.second)),
          .where = topology.name()};
}

}  // namespace tacos
