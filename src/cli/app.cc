// SPDX-License-Identifier: MIT
#include "cli/app.h"

#include <algorithm>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/suggest.h"
#include "cli/command.h"
#include "cli/streams.h"

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
  complain(fmt::format("{}; '{} --help' lists what there is", text, app.get_name()));
  return ExitCode::kUsage;
}

}  // namespace

ExitCode run(int argc, char** argv, const Program& program) {
  CLI::App app{program.description};
  app.name(program.name);
  app.set_version_flag("--version",
                       fmt::format("{} {} ({})", program.name, TACOS_VERSION, TACOS_BUILD));
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::simple);
  ExitCode code = ExitCode::kGood;
  program.add_commands(app, code);
  const std::vector<std::string_view> arguments(argv + 1, argv + argc);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    emit(stdout, "{}", app.help());
  } catch (const CLI::CallForAllHelp&) {
    emit(stdout, "{}", app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForVersion&) {
    emit(stdout, "{}\n", app.version());
  } catch (const CLI::ParseError& error) {
    code = usage_error(app, arguments, error.what());
  }
  // Data that did not arrive is a failure, whatever the command thinks.
  return flush_output() || code != ExitCode::kGood ? code : ExitCode::kInternal;
}

std::string sentence_of(const std::exception& error) {
  const bool memory = dynamic_cast<const std::bad_alloc*>(&error) != nullptr;
  return memory ? "not enough memory for this network and chunk count" : error.what();
}

}  // namespace tacos::cli
