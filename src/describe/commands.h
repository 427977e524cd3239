// SPDX-License-Identifier: MIT
// The commands of a program as data, read off their definitions.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tacos::describe {

struct Option {
  /// "--size", "-o,--output"; of a positional its name.
  std::vector<std::string> names;
  bool positional = false;
  bool takes_value = false;
  /// What it may be, where that is a list.
  std::vector<std::string> choices;
  std::string description;
};

struct Command {
  /// From the program on: {"tacos", "topology", "show"}.
  std::vector<std::string> path;
  std::string description;
  std::vector<Option> options;
  std::vector<Command> commands;
};

[[nodiscard]] Command read_commands(const CLI::App& app);

/// Words with a separator between them.
[[nodiscard]] std::string joined(const std::vector<std::string>& words, std::string_view separator);

}  // namespace tacos::describe
