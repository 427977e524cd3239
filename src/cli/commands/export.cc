// SPDX-License-Identifier: MIT
// tacos export: a schedule for the programs around us.
#include "tacos/export.h"

#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tacos/bundle.h"

#include "cli/command.h"
#include "cli/export_options.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/report.h"
#include "plan/candidates.h"

namespace tacos::cli {
namespace {

struct Arguments {
  std::string file;
  ExportArguments exported;
  std::string output;
};

/// What a reader does not take, with what it would take; that has been tried.
Error with_advice(Error error,
                  const Bundle& bundle,
                  const ExportFormat& format,
                  const ExportOptions& options) {
  const Result<std::optional<Bundle>> smaller =
      planning::smaller_bundle(bundle, {&format, options});
  if (smaller && *smaller) {
    error.message += fmt::format("; --engine {} --chunks {} fits",
                                 (*smaller)->engine,
                                 (*smaller)->collective.chunk_argument());
  }
  return error;
}

ExitCode run_export(const Arguments& arguments) {
  const Result<const ExportFormat*> format = find_export_format(arguments.exported.format);
  if (!format) {
    return fail(format.error());
  }
  const Outputs outputs{.schedule = arguments.output, .trace = {}};
  const bool folder = (*format)->files != nullptr;
  if (const Status writable = folder ? ok() : check_outputs(outputs, false); !writable) {
    return fail(writable.error());
  }
  const Result<Bundle> bundle = read_bundle(arguments.file);
  if (!bundle) {
    return fail(bundle.error());
  }
  if (const ExitCode code = check_schedule(arguments.file, *bundle, 1); code != ExitCode::kGood) {
    return code;
  }
  const ExportOptions options = export_options(arguments.exported);
  const Status written = export_schedule(*bundle, **format, arguments.output, options);
  if (!written) {
    return fail((*format)->runtime ? with_advice(written.error(), *bundle, **format, options)
                                   : written.error());
  }
  fmt::print(stderr,
             "{} of {} on {} written for {}\n",
             (*format)->name,
             bundle->collective.name(),
             bundle->topology.name(),
             (*format)->reader);
  return ExitCode::kGood;
}

}  // namespace

void add_export_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("export", "Write a schedule file as runtimes and viewers read it");
  require_value(
      command->add_option("FILE", arguments->file, "a schedule written by synth -o")->required());
  add_export_options(*command, arguments->exported, "what is to read it")->required();
  require_value(
      command->add_option("-o", arguments->output, "where to; - is standard output")->required());
  command->callback([arguments, &code] { code = run_export(*arguments); });
}

}  // namespace tacos::cli
