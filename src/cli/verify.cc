// SPDX-License-Identifier: MIT
// tacos verify: read a schedule file and replay it.
#include "tacos/verify.h"

#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tacos/bundle.h"

#include "base/quantity.h"
#include "cli/command.h"

namespace tacos::cli {
namespace {

struct VerifyArguments {
  std::string file;
  bool json = false;
};

nlohmann::ordered_json to_json(const Bundle& bundle, const VerifyReport& report, double seconds) {
  return {{"topology", bundle.topology.name()},
          {"npus", bundle.topology.num_npus()},
          {"links", bundle.topology.num_links()},
          {"collective", to_string(bundle.collective.kind())},
          {"size_bytes", bundle.collective.size().count},
          {"link_model", to_string(bundle.link_model)},
          {"collective_time_us", to_us(report.collective_time)},
          {"chunks", bundle.collective.num_chunks()},
          {"transfers", report.num_transfers},
          {"verify_seconds", seconds},
          {"peak_rss_bytes", peak_rss_bytes()},
          {"verified", report.valid()},
          {"violations", report.violations},
          {"num_violations", report.num_violations},
          {"schedule_hash", fmt::format("{:016x}", bundle.schedule.hash())}};
}

ExitCode run_verify(const VerifyArguments& arguments) {
  const Result<Bundle> bundle = read_bundle(arguments.file);
  if (!bundle) {
    return fail(bundle.error());
  }
  const Stopwatch watch;
  const Result<VerifyReport> report = verify(
      bundle->topology, bundle->collective, bundle->schedule, {.link_model = bundle->link_model});
  if (!report) {
    return fail(report.error());
  }
  if (arguments.json) {
    fmt::print("{}\n", to_json(*bundle, *report, watch.seconds()).dump(2));
  }
  if (!report->valid()) {
    fmt::print(stderr,
               "tacos: {}: not a correct {}: {} violation{}\n",
               arguments.file,
               to_string(bundle->collective.kind()),
               format_count(report->num_violations),
               report->num_violations == 1 ? "" : "s");
    for (const std::string& violation : report->violations) {
      fmt::print(stderr, "  {}\n", violation);
    }
    return ExitCode::kVerificationFailed;
  }
  if (!arguments.json) {
    fmt::print("valid: {} of {} on {} in {}, {} transfers ({} model)\n",
               to_string(bundle->collective.kind()),
               format_size(bundle->collective.size()),
               bundle->topology.name(),
               format_time(report->collective_time),
               format_count(report->num_transfers),
               to_string(bundle->link_model));
  }
  return ExitCode::kGood;
}

}  // namespace

void add_verify(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = app.add_subcommand("verify", "Replay a schedule file and check everything");
  command->add_option("FILE", arguments->file, "a schedule written by synth -o")->required();
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code] { code = run_verify(*arguments); });
}

}  // namespace tacos::cli
