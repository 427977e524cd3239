// SPDX-License-Identifier: MIT
// tacos verify: read a schedule file and replay it.
#include "tacos/verify.h"

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tacos/bundle.h"

#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/report.h"

namespace tacos::cli {
namespace {

struct VerifyArguments {
  std::string file;
  bool json = false;
};

Json to_json(const Bundle& bundle, const VerifyReport& report, double seconds) {
  Json json = problem_json(bundle.topology, bundle.collective);
  json["link_model"] = to_string(bundle.link_model);
  json["collective_time_us"] = to_us(report.collective_time);
  json["chunks"] = bundle.collective.num_chunks();
  json["transfers"] = report.num_transfers;
  json["verify_seconds"] = seconds;
  json["peak_rss_bytes"] = peak_rss_bytes();
  json["verified"] = report.valid();
  json["violations"] = report.violations;
  json["num_violations"] = report.num_violations;
  json["schedule_hash"] = fmt::format("{:016x}", bundle.schedule.hash());
  return json;
}

ExitCode run_verify(const VerifyArguments& arguments) {
  const Result<Bundle> bundle = read_bundle(arguments.file);
  if (!bundle) {
    return fail(bundle.error());
  }
  const Stopwatch watch;
  const int threads = all_cores();
  const Result<VerifyReport> report = verify_with_progress(*bundle, threads);
  if (!report) {
    return fail(report.error());
  }
  if (arguments.json) {
    print_object(to_json(*bundle, *report, watch.seconds()));
  }
  if (!report->valid()) {
    complain(fmt::format("{}: not a correct {}: {} violation{}",
                         arguments.file,
                         collective_text(bundle->collective),
                         format_count(report->num_violations),
                         report->num_violations == 1 ? "" : "s"));
    for (const std::string& violation : report->violations) {
      emit(stderr, "  {}\n", violation);
    }
    return ExitCode::kVerificationFailed;
  }
  if (!arguments.json) {
    emit(stdout,
         "valid: {} of {} on {} in {}, {} transfers ({} model)\n",
         collective_text(bundle->collective),
         format_size(bundle->collective.size()),
         printable(bundle->topology.name()),
         format_time(report->collective_time),
         format_count(report->num_transfers),
         to_string(bundle->link_model));
  }
  return ExitCode::kGood;
}

}  // namespace

void add_verify_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = app.add_subcommand("verify", "Replay a schedule file and check everything");
  require_value(
      command->add_option("FILE", arguments->file, "a schedule written by synth -o")->required());
  add_switch(*command, "--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code] { code = run_verify(*arguments); });
}

}  // namespace tacos::cli
