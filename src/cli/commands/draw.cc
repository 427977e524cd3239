// SPDX-License-Identifier: MIT
// tacos draw: a network, or what a schedule does on it, as a picture.
#include "tacos/draw.h"

#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "tacos/bound.h"
#include "tacos/bundle.h"

#include "base/files/file.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/report.h"
#include "cli/task.h"
#include "export/sections.h"

namespace tacos::cli {
namespace {

struct DrawArguments {
  std::string what;
  bool timeline = false;
  std::vector<std::string> failures;
  ImportOptions import;
  std::string output;
};

ExitCode write_picture(const std::string& path, const Result<std::string>& picture) {
  if (!picture) {
    return fail(picture.error());
  }
  const Status written = write_text_file(path, *picture);
  return written ? ExitCode::kGood : fail(written.error());
}

ExitCode draw_schedule(const DrawArguments& arguments, const Bundle& bundle) {
  if (const ExitCode code = check_schedule(arguments.what, bundle, all_cores());
      code != ExitCode::kGood) {
    return code;
  }
  const Result<BoundReport> bound =
      compute_bounds(bundle.topology, bundle.collective, bound_options(bundle));
  if (!bound) {
    return fail(bound.error());
  }
  const DrawOptions options{.bound = bound->best.time};
  return write_picture(
      arguments.output,
      arguments.timeline ? draw_timeline(bundle, options) : draw_network(bundle, options));
}

ExitCode run_draw(const DrawArguments& arguments) {
  const Outputs outputs{.schedule = arguments.output, .trace = {}};
  if (const Status writable = check_outputs(outputs, false); !writable) {
    return fail(writable.error());
  }
  // Whatever begins as a schedule file does is one, and what is called so should be.
  if (arguments.what.ends_with(".tacos") || SectionReader::open(arguments.what)) {
    if (!arguments.failures.empty()) {
      return fail({.code = ErrorCode::kUsage,
                   .message = "is for networks; a schedule has the failures that it was made for",
                   .where = "--fail"});
    }
    const Result<Bundle> bundle = read_bundle(arguments.what);
    return bundle ? draw_schedule(arguments, *bundle) : fail(bundle.error());
  }
  if (arguments.timeline) {
    return fail({.code = ErrorCode::kUsage,
                 .message = "is for schedules; a network alone carries nothing",
                 .where = "--timeline"});
  }
  const Result<DegradedTopology> network =
      load_degraded(arguments.what, arguments.failures, arguments.import);
  return network ? write_picture(arguments.output, draw_network(network->topology))
                 : fail(network.error());
}

}  // namespace

void add_draw_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<DrawArguments>();
  CLI::App* command =
      app.add_subcommand("draw", "Draw a network, or what a schedule does on it, as SVG");
  require_value(command
                    ->add_option("FILE|TOPOLOGY",
                                 arguments->what,
                                 "a schedule written by synth -o, or a network: spec or file")
                    ->required());
  add_switch(*command,
             "--timeline",
             arguments->timeline,
             "when each link is busy, in place of the network");
  add_fail_option(*command, arguments->failures);
  add_import_options(*command, arguments->import);
  require_value(
      command->add_option("-o", arguments->output, "where to; - is standard output")->required());
  command->callback([arguments, &code] { code = run_draw(*arguments); });
}

}  // namespace tacos::cli
