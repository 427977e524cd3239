// SPDX-License-Identifier: MIT
#include "topology/unreachable.h"

#include <fmt/format.h>

#include "topology/names.h"

namespace tacos {

Error unreachable_error(const Topology& topology, std::pair<NodeId, NodeId> pair) {
  return {.code = ErrorCode::kInfeasible,
          .message = fmt::format("no schedule exists: {} cannot reach {}",
                                 npu_text(topology, pair.first),
                                 npu_text(topology, pair.second)),
          .where = topology.name(),
          .unreachable = pair};
}

}  // namespace tacos
