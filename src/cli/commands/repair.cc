// SPDX-License-Identifier: MIT
// tacos repair: a schedule for a network in which something has failed since, or works again.
#include "tacos/repair.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tacos/contingency.h"

#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/outcome.h"
#include "cli/outputs.h"
#include "cli/report.h"
#include "cli/task.h"
#include "cli/terminal/streams.h"

namespace tacos::cli {
namespace {

struct RepairArguments {
  std::string file;
  NetworkChange change;
  std::optional<std::string> at;
  std::optional<std::string> plans;
  int threads = all_cores();
  Outputs outputs;
  bool json = false;
};

/// What a repair adds to the report on its schedule.
struct Repaired {
  Outcome outcome;
  Ticks before;
  std::uint64_t kept = 0;
  std::uint64_t added = 0;
  double read_seconds = 0;
  double index_seconds = 0;
  double repair_seconds = 0;
  /// Of a failure while the schedule ran; the bundle is that of the outcome.
  std::optional<Ticks> at = std::nullopt;
  std::optional<ResumedSchedule> resumed = std::nullopt;
};

/// From a contingency plan where it has the answer, else made now.
Result<Repair> repaired_bundle(const RepairArguments& arguments, const Repairer& repairer) {
  if (arguments.plans) {
    Result<std::optional<Repair>> found =
        find_contingency(*arguments.plans, repairer.bundle(), arguments.change);
    if (!found) {
      return found.error();
    }
    if (*found) {
      return **std::move(found);
    }
  }
  return repairer.repair(arguments.change, {.threads = arguments.threads});
}

Error usage_error(std::string message) {
  return {.code = ErrorCode::kUsage, .message = std::move(message), .where = {}};
}

Result<std::optional<Ticks>> parse_at(const RepairArguments& arguments) {
  if (!arguments.at) {
    return std::optional<Ticks>();
  }
  if (arguments.plans || !arguments.change.restored.empty()) {
    return usage_error(fmt::format("--at goes with --fail, not with {}",
                                   arguments.plans ? "--plans" : "--restore"));
  }
  const Result<Ticks> at = parse_time(*arguments.at);
  return at ? Result<std::optional<Ticks>>(*at)
            : input_error(at.error().message, fmt::format("--at {}", *arguments.at));
}

/// Times itself; the outcome and what is special to a failure while the schedule runs.
Result<Repaired> repaired_by(const RepairArguments& arguments, const Repairer& repairer) {
  const Result<std::optional<Ticks>> at = parse_at(arguments);
  if (!at) {
    return at.error();
  }
  Repaired repaired{.outcome = {.bundle = repairer.bundle(), .compared = {}, .peaks = {}},
                    .before = repairer.bundle().schedule.collective_time()};
  const Stopwatch watch;
  std::optional<Repair> made;
  if (*at) {
    Result<ResumedSchedule> resumed =
        repairer.repair_at(**at, arguments.change, {.threads = arguments.threads});
    if (!resumed) {
      return resumed.error();
    }
    made = resumed->repair;
    repaired.at = *at;
    repaired.resumed = *std::move(resumed);
  } else {
    Result<Repair> repair = repaired_bundle(arguments, repairer);
    if (!repair) {
      return repair.error();
    }
    made = *std::move(repair);
  }
  repaired.repair_seconds = watch.seconds();
  repaired.kept = made->kept_transfers;
  repaired.added = made->new_transfers;
  repaired.outcome.bundle = std::move(made->bundle);
  return repaired;
}

Result<Repaired> repair_file(const RepairArguments& arguments) {
  if (arguments.change.failures.empty() && arguments.change.restored.empty()) {
    return usage_error("say what has happened with --fail or --restore");
  }
  if (Status writable = check_outputs(arguments.outputs, arguments.json); !writable) {
    return writable.error();
  }
  const Stopwatch reading;
  Result<Bundle> bundle = read_bundle(arguments.file);
  if (!bundle) {
    return bundle.error();
  }
  const double read_seconds = reading.seconds();
  const Stopwatch indexing;
  const Result<Repairer> repairer = Repairer::make(*std::move(bundle));
  if (!repairer) {
    return repairer.error();
  }
  const double index_seconds = indexing.seconds();
  Result<Repaired> repaired = repaired_by(arguments, *repairer);
  if (repaired) {
    repaired->read_seconds = read_seconds;
    repaired->index_seconds = index_seconds;
    repaired->outcome.trials = 1;
    repaired->outcome.threads = arguments.threads;
    repaired->outcome.effort = kLeastEffort;
    repaired->outcome.synthesis_seconds = repaired->repair_seconds;
  }
  return repaired;
}

/// "12.5% slower than", "as fast as" or "3.0% faster than".
std::string compared_with(Ticks now, Ticks other) {
  if (now == other || other.ps == 0) {
    return "as fast as";
  }
  const double ratio = static_cast<double>(now.ps) / static_cast<double>(other.ps);
  return ratio > 1 ? fmt::format("{:.1f}% slower than", 100 * (ratio - 1))
                   : fmt::format("{:.1f}% faster than", 100 * (1 - ratio));
}

Json to_json(const Repaired& repaired) {
  Json json = to_json(repaired.outcome);
  json["before_us"] = to_us(repaired.before);
  json["read_seconds"] = repaired.read_seconds;
  json["index_seconds"] = repaired.index_seconds;
  json["repair_seconds"] = repaired.repair_seconds;
  json["kept_transfers"] = repaired.kept;
  json["new_transfers"] = repaired.added;
  if (repaired.resumed) {
    const ResumedSchedule& resumed = *repaired.resumed;
    json["at_us"] = to_us(*repaired.at);
    json["begins_us"] = to_us(resumed.begins);
    json["end_us"] = to_us(resumed.end());
    json["resumption"] = to_string(resumed.resumption);
    json["arrived_moves"] = resumed.arrived_moves;
    json["under_way_moves"] = resumed.under_way_moves;
    json["lost_moves"] = resumed.lost_moves;
    json["restarted_sums"] = resumed.restarted_sums;
  }
  return json;
}

/// Of a failure while the schedule ran.
void print_resumed(const Repaired& repaired, const Outputs& outputs) {
  const ResumedSchedule& resumed = *repaired.resumed;
  emit(report_stream(outputs),
       "all is finished at {}, {} without the failure at {}; the schedule is {} and begins at {}\n"
       "by then {} chunks had been moved, {} were under way, {} were lost; "
       "{} transfers kept, {} new, in {:.1f} ms\n",
       format_time(resumed.end()),
       compared_with(resumed.end(), repaired.before),
       format_time(*repaired.at),
       to_string(resumed.resumption),
       format_time(resumed.begins),
       format_count(resumed.arrived_moves),
       format_count(resumed.under_way_moves),
       format_count(resumed.lost_moves),
       format_count(repaired.kept),
       format_count(repaired.added),
       1e3 * repaired.repair_seconds);
  if (resumed.restarted_sums > 0) {
    emit(report_stream(outputs),
         "{} sums had shares of NPUs that are gone, and take some of the others from the inputs\n",
         format_count(resumed.restarted_sums));
  }
  print_text(repaired.outcome, outputs);
}

void print_text(const Repaired& repaired, const Outputs& outputs) {
  if (repaired.resumed) {
    print_resumed(repaired, outputs);
    return;
  }
  const Bundle& bundle = repaired.outcome.bundle;
  const Ticks time = bundle.schedule.collective_time();
  emit(report_stream(outputs),
       "{} takes {} now, {} before and {} the new bound; {} transfers kept, {} new, in {:.1f} ms\n",
       collective_text(bundle.collective),
       format_time(time),
       compared_with(time, repaired.before),
       compared_with(time, repaired.outcome.bound.best.time),
       format_count(repaired.kept),
       format_count(repaired.added),
       1e3 * repaired.repair_seconds);
  print_text(repaired.outcome, outputs);
}

ExitCode run_repair(const RepairArguments& arguments) {
  Result<Repaired> repaired = repair_file(arguments);
  if (!repaired) {
    return fail(repaired.error());
  }
  Alone alone;
  if (const ExitCode code = verify_outcome(repaired->outcome, alone); code != ExitCode::kGood) {
    return code;
  }
  if (const Status done = complete(repaired->outcome, arguments.outputs); !done) {
    return fail(done.error());
  }
  if (arguments.json) {
    print_object(to_json(*repaired));
  } else {
    print_text(*repaired, arguments.outputs);
  }
  return ExitCode::kGood;
}

}  // namespace

void add_repair_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<RepairArguments>();
  CLI::App* command = app.add_subcommand(
      "repair", "Make a schedule right for its network as it is now, verify it, report");
  require_value(command->add_option("FILE", arguments->file, "written by synth -o")->required());
  add_fail_option(*command, arguments->change.failures);
  command
      ->add_option("--restore",
                   arguments->change.restored,
                   "link:A-B, link:A>B, npu:A or slow:A-B that works again; may be repeated")
      ->allow_extra_args(false);
  require_value(command->add_option(
      "--at", arguments->at, "when it failed, while the schedule ran, as 120us: plan the rest"));
  require_value(
      command->add_option("--plans",
                          arguments->plans,
                          "a folder of tacos contingency, for one failure of a link or NPU"));
  add_threads_option(*command, arguments->threads);
  require_value(
      command->add_option("-o,--output",
                          arguments->outputs.schedule,
                          "write the schedule to this file; '-' is stdout, the report on stderr"));
  add_switch(*command, "--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code] { code = run_repair(*arguments); });
}

}  // namespace tacos::cli
