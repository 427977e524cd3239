// SPDX-License-Identifier: MIT
#include "cli/app.h"

#include <new>
#include <stdexcept>
#include <system_error>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/assert.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/terminal/streams.h"

namespace tacos::cli {

void define(const Executable& executable, CLI::App& app, ExitCode& code) {
  app.name(executable.name);
  app.description(executable.description);
  app.set_version_flag("--version",
                       fmt::format("{} {} ({})", executable.name, TACOS_VERSION, TACOS_BUILD));
  app.require_subcommand(1);
  executable.add_commands(app, code);
}

ExitCode run(int argc, char** argv, const Executable& executable) {
  CLI::App app;
  ExitCode code = ExitCode::kGood;
  define(executable, app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    emit(stdout, "{}", app.help());
  } catch (const CLI::CallForAllHelp&) {
    emit(stdout, "{}", app.help("", CLI::AppFormatMode::All));
  } catch (const CLI::CallForVersion&) {
    emit(stdout, "{}\n", app.version());
  } catch (const CLI::ParseError& error) {
    complain(usage_sentence(app, error));
    code = ExitCode::kUsage;
  }
  // Data that did not arrive is a failure, whatever the command thinks.
  return flush_output() || code != ExitCode::kGood ? code : ExitCode::kInternal;
}

Error error_of(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
      dynamic_cast<const std::length_error*>(&error) != nullptr) {
    return input_error(
        "needs more memory than there is; use fewer chunks, a smaller network, or more memory");
  }
  if (const auto* const refused = dynamic_cast<const std::system_error*>(&error)) {
    const bool threads = refused->code() == std::errc::resource_unavailable_try_again;
    return input_error(threads ? "the system allows no more threads; use fewer --threads"
                               : error.what());
  }
  const bool ours = dynamic_cast<const InternalError*>(&error) != nullptr;
  return {.code = ErrorCode::kInternal,
          .message = fmt::format("{}{}", ours ? "" : "internal error: ", error.what()),
          .where = {}};
}

}  // namespace tacos::cli
