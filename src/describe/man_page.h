// SPDX-License-Identifier: MIT
// The manual page of a program, for man(1).
#pragma once

#include <string>
#include <string_view>

#include "describe/commands.h"

namespace tacos::describe {

[[nodiscard]] std::string man_page(const Command& program, std::string_view version);

}  // namespace tacos::describe
