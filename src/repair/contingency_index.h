// SPDX-License-Identifier: MIT
// contingency.json, written and read (docs/repair.md).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tacos/contingency.h"
#include "tacos/result.h"

namespace tacos::repairing {

[[nodiscard]] std::string index_text(const ContingencyPlan& plan);
/// `where` names the text in errors.
[[nodiscard]] Result<ContingencyPlan> parse_index(std::string_view text, const std::string& where);

/// Of its bytes.
[[nodiscard]] std::uint64_t text_hash(std::string_view text);

/// One row by itself, with a hash of it and of the file that it names.
[[nodiscard]] std::string row_text(const Contingency& row, std::uint64_t file_hash);
/// Nothing unless both are as they were; `file_hash` is that of a file as it is now.
[[nodiscard]] std::optional<Contingency> parse_row(
    std::string_view text,
    const std::function<std::optional<std::uint64_t>(const std::string& name)>& file_hash);

}  // namespace tacos::repairing
