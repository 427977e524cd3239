// SPDX-License-Identifier: MIT
// Who is which NPU, as users say it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "tacos/ids.h"
#include "tacos/result.h"

#include "base/parallel/team.h"

namespace tacos::execution {

/// By member: its NPU. `map` is a file with the numbers of NPUs, one for each member, or "hosts":
/// members of one machine get some of `npus` that follow each other; empty: in order. By all
/// members.
[[nodiscard]] Result<std::vector<NodeId>> map_members(Team& team,
                                                      std::span<const NodeId> npus,
                                                      const std::string& map);

}  // namespace tacos::execution
