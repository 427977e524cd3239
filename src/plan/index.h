// SPDX-License-Identifier: MIT
// plan.json, written and read (docs/plan.md).
#pragma once

#include <string>
#include <string_view>

#include "tacos/plan.h"
#include "tacos/result.h"

namespace tacos::planning {

[[nodiscard]] std::string index_text(const Plan& plan);
/// `where` names the text in errors.
[[nodiscard]] Result<Plan> parse_index(std::string_view text, const std::string& where);

/// `0-3,8`, as parse_group reads it.
[[nodiscard]] std::string group_text(std::span<const NodeId> npus);

}  // namespace tacos::planning
