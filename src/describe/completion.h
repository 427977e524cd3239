// SPDX-License-Identifier: MIT
// What a shell needs to complete the commands and options of a program.
#pragma once

#include <string>

#include "describe/commands.h"

namespace tacos::describe {

[[nodiscard]] std::string bash_completion(const Command& program);
[[nodiscard]] std::string zsh_completion(const Command& program);
[[nodiscard]] std::string fish_completion(const Command& program);

}  // namespace tacos::describe
