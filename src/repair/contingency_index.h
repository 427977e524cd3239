// SPDX-License-Identifier: MIT
// contingency.json, written and read (docs/repair.md).
#pragma once

#include <string>
#include <string_view>

#include "tacos/contingency.h"
#include "tacos/result.h"

namespace tacos::repairing {

[[nodiscard]] std::string index_text(const ContingencyPlan& plan);
/// `where` names the text in errors.
[[nodiscard]] Result<ContingencyPlan> parse_index(std::string_view text, const std::string& where);

}  // namespace tacos::repairing
