// SPDX-License-Identifier: MIT
// tacos: from a network and a collective to a verified schedule.
#include <array>
#include <exception>
#include <new>
#include <span>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/suggest.h"
#include "cli/command.h"
#include "cli/interrupt.h"

namespace tacos::cli {
namespace {

ExitCode usage_error(const CLI::App& app,
                     std::span<const std::string_view> arguments,
                     std::string text) {
  // CLI11 calls a mistyped command an unexpected argument; say what it probably was.
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const bool has_command = !arguments.empty() && !arguments[0].starts_with("-");
  if (has_command && std::find(known.begin(), known.end(), arguments[0]) == known.end()) {
    text = unknown_name("command", arguments[0], known);
  }
  fmt::print(stderr, "tacos: {}; 'tacos --help' lists what there is\n", text);
  return ExitCode::kUsage;
}

ExitCode run(int argc, char** argv) {
  CLI::App app{"Synthesizes collective communication algorithms for any network."};
  app.name("tacos");
  app.set_version_flag("--version", fmt::format("tacos {} ({})", TACOS_VERSION, TACOS_BUILD));
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  ExitCode code = ExitCode::kGood;
  add_synth_command(app, code);
  add_verify_command(app, code);
  add_bound_command(app, code);
  add_topology_command(app, code);
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
  } catch (const CLI::CallForAllHelp&) {
    fmt::print("{}", app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForVersion&) {
    fmt::print("{}\n", app.version());
  } catch (const CLI::ParseError& error) {
    return usage_error(app, arguments, error.what());
  }
  return code;
}

}  // namespace
}  // namespace tacos::cli

int main(int argc, char** argv) {
  using tacos::cli::ExitCode;
  tacos::cli::handle_interrupts();
  try {
    return static_cast<int>(tacos::cli::run(argc, argv));
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "tacos: not enough memory for this network and chunk count\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "tacos: {}\n", error.what());
  }
  return static_cast<int>(ExitCode::kInternal);
}
