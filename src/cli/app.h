// SPDX-License-Identifier: MIT
// The frame around the subcommands, for each program that has some of them.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "tacos/error.h"

#include "cli/command.h"

namespace tacos::cli {

struct Executable {
  std::string name;
  std::string description;
  std::function<void(CLI::App& app, ExitCode& code)> add_commands;
};

/// Gives the app its name, version and commands; what runs stores its exit code in `code`.
void define(const Executable& executable, CLI::App& app, ExitCode& code);

/// Runs the subcommand that the arguments ask for; help, version and wrong usage as well.
[[nodiscard]] ExitCode run(int argc, char** argv, const Executable& executable);

/// What a user is told about an exception that nobody caught.
[[nodiscard]] Error error_of(const std::exception& error);

}  // namespace tacos::cli
