// SPDX-License-Identifier: MIT
// tacos view: a page that shows a schedule, or two side by side.
#include "tacos/view.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tacos/bundle.h"

#include "base/files/file.h"
#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/report.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/streams.h"

namespace tacos::cli {
namespace {

struct ViewArguments {
  std::string file;
  std::optional<std::string> other;
  std::string output;
};

ExitCode run_view(const ViewArguments& arguments) {
  const Outputs outputs{.schedule = arguments.output, .trace = {}};
  if (const Status writable = check_outputs(outputs, false); !writable) {
    return fail(writable.error());
  }
  std::vector<std::string> files{arguments.file};
  if (arguments.other) {
    files.push_back(*arguments.other);
  }
  const int threads = all_cores();
  std::vector<Bundle> bundles;
  std::uint64_t transfers = 0;
  for (const std::string& file : files) {
    Result<Bundle> bundle = read_bundle(file);
    if (!bundle) {
      return fail(bundle.error());
    }
    if (const ExitCode code = check_schedule(file, *bundle, threads); code != ExitCode::kGood) {
      return code;
    }
    transfers += bundle->schedule.num_transfers();
    bundles.push_back(*std::move(bundle));
  }
  Progress progress("reading", transfers);
  const Result<std::string> page = view_page(
      bundles,
      {.threads = threads, .progress = [&progress](double share) { progress.update(share); }});
  if (!page) {
    return fail(page.error());
  }
  if (const Status written = write_text_file(arguments.output, *page); !written) {
    return fail(written.error());
  }
  emit(stderr, "{} written; open it in a browser\n", format_binary(page->size()));
  return ExitCode::kGood;
}

}  // namespace

void add_view_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<ViewArguments>();
  CLI::App* command =
      app.add_subcommand("view", "Write a page that shows a schedule file, or two side by side");
  require_value(
      command->add_option("FILE", arguments->file, "a schedule written by synth -o")->required());
  require_value(command->add_option("OTHER", arguments->other, "another, shown beside it"));
  require_value(
      command->add_option("-o", arguments->output, "where to; - is standard output")->required());
  command->callback([arguments, &code] { code = run_view(*arguments); });
}

}  // namespace tacos::cli
