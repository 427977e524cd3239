// SPDX-License-Identifier: MIT
// Writes what a system needs to know of the programs beside themselves: manual pages, and
// completion for three shells. Used when building packages; not installed.
//
//   tacos_describe DIRECTORY
#include <cstdio>
#include <exception>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "base/parallel/team.h"
#include "cli/executables.h"
#include "describe/completion.h"
#include "describe/man_page.h"

namespace {

using tacos::describe::Command;

Command commands_of(const tacos::cli::Executable& executable) {
  CLI::App app;
  tacos::cli::ExitCode code{};
  tacos::cli::define(executable, app, code);
  return tacos::describe::read_commands(app);
}

bool write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  if (!file) {
    fmt::print(stderr, "tacos_describe: {} cannot be written\n", path);
  }
  return file.good();
}

/// Whether all could be written.
bool write_all(const std::string& directory) {
  tacos::Alone alone;
  bool good = true;
  for (const tacos::cli::Executable& executable :
       {tacos::cli::tacos_executable(alone), tacos::cli::tacos_mpi_executable(alone, nullptr)}) {
    const Command command = commands_of(executable);
    const std::string stem = fmt::format("{}/{}", directory, executable.name);
    good = write(stem + ".1", tacos::describe::man_page(command, TACOS_VERSION)) && good;
    good = write(stem + ".bash", tacos::describe::bash_completion(command)) && good;
    good = write(fmt::format("{}/_{}", directory, executable.name),
                 tacos::describe::zsh_completion(command)) &&
           good;
    good = write(stem + ".fish", tacos::describe::fish_completion(command)) && good;
  }
  return good;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2) {
      return write_all(argv[1]) ? 0 : 1;
    }
    fmt::print(stderr, "usage: tacos_describe DIRECTORY\n");
    return 2;
  } catch (const std::exception& error) {
    (void)std::fprintf(stderr, "tacos_describe: %s\n", error.what());
    return 1;
  }
}
