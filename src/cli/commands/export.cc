// SPDX-License-Identifier: MIT
// tacos export: a schedule for the programs around us.
#include "tacos/export.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tacos/bundle.h"

#include "cli/command.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/report.h"

namespace tacos::cli {
namespace {

constexpr std::array<std::string_view, 2> kYesOrNo{"yes", "no"};
constexpr std::array<std::string_view, 3> kProtocols{"Simple", "LL", "LL128"};

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  for (const ExportFormat& format : export_formats()) {
    names.push_back(format.name);
  }
  return names;
}
const std::vector<std::string_view> kNames = format_names();

struct ExportArguments {
  std::string file;
  std::string format;
  std::string in_place = "no";
  std::string protocol = "Simple";
  std::string output;
};

ExitCode run_export(const ExportArguments& arguments) {
  const Result<const ExportFormat*> format = find_export_format(arguments.format);
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
  const Status written =
      export_schedule(*bundle,
                      **format,
                      arguments.output,
                      {.in_place = arguments.in_place == "yes", .protocol = arguments.protocol});
  if (!written) {
    return fail(written.error());
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
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App* command =
      app.add_subcommand("export", "Write a schedule file as runtimes and viewers read it");
  require_value(
      command->add_option("FILE", arguments->file, "a schedule written by synth -o")->required());
  add_choice(*command, "--format", arguments->format, kNames, "format", "what is to read it")
      ->required();
  add_choice(*command,
             "--in-place",
             arguments->in_place,
             kYesOrNo,
             "answer",
             "whether input and output are the same memory [no]");
  add_choice(*command,
             "--protocol",
             arguments->protocol,
             kProtocols,
             "protocol",
             "of the runtime [Simple]");
  require_value(
      command->add_option("-o", arguments->output, "where to; - is standard output")->required());
  command->callback([arguments, &code] { code = run_export(*arguments); });
}

}  // namespace tacos::cli
