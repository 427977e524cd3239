// SPDX-License-Identifier: MIT
// tacos plan: a folder of schedules for all sizes; tacos plan show: what is in one.
#include "tacos/plan.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tacos/export.h"

#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/export_options.h"
#include "cli/options.h"
#include "cli/sizes.h"
#include "cli/task.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/streams.h"

namespace tacos::cli {
namespace {

struct PlanArguments {
  std::string topology;
  ImportOptions import;
  std::vector<std::string> failures;
  std::string collectives;
  std::string sizes;
  std::vector<std::string> groups;
  ExportArguments exported;
  int effort = kDefaultEffort;
  std::string link_model = "hold";
  std::uint64_t seed = 1;
  int threads = all_cores();
  std::string folder;
};

Result<std::vector<CollectiveName>> parse_collectives(std::string_view text) {
  std::vector<CollectiveName> all;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const Result<CollectiveName> one = parse_collective_name(text.substr(at, comma - at));
    if (!one) {
      return one.error();
    }
    if (std::find(all.begin(), all.end(), *one) != all.end()) {
      return input_error(fmt::format("lists {} twice", text.substr(at, comma - at)),
                         "--collectives");
    }
    all.push_back(*one);
    at = comma + 1;
  }
  return all;
}

/// Every group as it was asked for; one of all that work where nothing was asked and some do not.
Result<std::vector<std::vector<NodeId>>> parse_groups(const PlanArguments& arguments,
                                                      const DegradedTopology& network) {
  std::vector<std::vector<NodeId>> groups;
  if (arguments.groups.empty() && !network.failed_npus.empty()) {
    Result<std::vector<NodeId>> left = choose_participants(std::nullopt, network);
    if (!left) {
      return left.error();
    }
    groups.push_back(*std::move(left));
  }
  for (const std::string& text : arguments.groups) {
    Result<std::vector<NodeId>> group = choose_participants(text, network);
    if (!group) {
      return group.error();
    }
    groups.push_back(*std::move(group));
  }
  return groups;
}

/// "64 KiB" or "64 KiB to 1 GiB".
std::string range_text(Bytes least, Bytes most) {
  return least == most ? format_size(least)
                       : fmt::format("{} to {}", format_size(least), format_size(most));
}

/// "91 to 98%": what the points reach of their bounds.
std::string efficiency_text(const PlanEntry& entry) {
  double worst = 100;
  double best = 0;
  for (const PlanPoint& point : entry.points) {
    const double share = point.time.ps == 0 ? 100
                                            : 100 * static_cast<double>(point.bound.ps) /
                                                  static_cast<double>(point.time.ps);
    worst = std::min(worst, share);
    best = std::max(best, share);
  }
  const std::string least = fmt::format("{:.0f}", worst);
  const std::string most = fmt::format("{:.0f}", best);
  return least == most ? most + "%" : fmt::format("{} to {}%", least, most);
}

std::string time_text(const PlanEntry& entry) {
  const std::string first = format_time(entry.points.front().time);
  return entry.points.size() == 1
             ? first
             : fmt::format("{} to {}", first, format_time(entry.points.back().time));
}

void print_plan(const Plan& plan, const std::string& folder) {
  emit(stdout,
       "{} schedule{} for {} on {}, {} model: {}\n\n",
       plan.entries.size(),
       plan.entries.size() == 1 ? "" : "s",
       range_text(plan.least, plan.most),
       printable(plan.network),
       to_string(plan.link_model),
       printable(folder));
  std::vector<std::vector<std::string>> rows{
      {"collective", "NPUs", "sizes", "time", "of bound", "chunks", "engine", "file"}};
  for (const PlanEntry& entry : plan.entries) {
    std::string name(to_string(entry.kind));
    if (entry.root) {
      name += fmt::format(":{}", entry.root->value());
    }
    rows.push_back({name,
                    fmt::format("{}", entry.participants.size()),
                    range_text(entry.least, entry.most),
                    time_text(entry),
                    efficiency_text(entry),
                    fmt::format("{}", entry.chunks),
                    printable(entry.engine),
                    printable(entry.exported.empty() ? entry.file : entry.exported)});
  }
  print_columns(stdout, rows);
}

Result<Plan> make(const PlanArguments& arguments) {
  PlanOptions options{.collectives = {},
                      .link_model = link_model_of(arguments.link_model),
                      .seed = arguments.seed,
                      .effort = arguments.effort,
                      .exported = export_options(arguments.exported),
                      .threads = arguments.threads};
  Result<std::vector<CollectiveName>> collectives = parse_collectives(arguments.collectives);
  if (!collectives) {
    return collectives.error();
  }
  options.collectives = *std::move(collectives);
  const Result<SizeRange> sizes = parse_size_range(arguments.sizes);
  if (!sizes) {
    return sizes.error();
  }
  options.least = sizes->first;
  options.most = sizes->last;
  if (!arguments.exported.format.empty()) {
    const Result<const ExportFormat*> format = find_export_format(arguments.exported.format);
    if (const Status said = format ? check_options(**format, options.exported) : ok(); !said) {
      return said.error();
    }
    if (!format) {
      return format.error();
    }
    options.format = *format;
  }
  const Result<DegradedTopology> network =
      load_degraded(arguments.topology, arguments.failures, arguments.import);
  if (!network) {
    return network.error();
  }
  Result<std::vector<std::vector<NodeId>>> groups = parse_groups(arguments, *network);
  if (!groups) {
    return groups.error();
  }
  options.groups = *std::move(groups);
  Progress progress("planning");
  options.progress = [&progress](double share) { progress.update(share); };
  return make_plan(network->topology, options, arguments.folder);
}

ExitCode run_plan(const PlanArguments& arguments) {
  const Result<Plan> plan = make(arguments);
  if (!plan) {
    return fail(plan.error());
  }
  print_plan(*plan, arguments.folder);
  return ExitCode::kGood;
}

ExitCode run_show(const std::string& folder) {
  const Result<Plan> plan = read_plan(folder);
  if (!plan) {
    return fail(plan.error());
  }
  print_plan(*plan, folder);
  return ExitCode::kGood;
}

/// What must be there unless another command follows.
void require(const std::string& value, const char* name) {
  if (value.empty()) {
    throw CLI::ValidationError(name, "is missing");
  }
}

void add_options(CLI::App& command, PlanArguments& arguments) {
  command.add_option("TOPOLOGY", arguments.topology, "a spec such as torus:8x8, or a file");
  add_import_options(command, arguments.import);
  add_fail_option(command, arguments.failures);
  require_value(
      command.add_option("--collectives", arguments.collectives, "such as all-reduce,broadcast:3"));
  require_value(
      command.add_option("--sizes", arguments.sizes, "of whole buffers, such as 64KiB..1GiB"));
  command
      .add_option("--group",
                  arguments.groups,
                  "the NPUs that take part, such as 0-3,8,9 [all]; may be repeated")
      ->allow_extra_args(false);
  add_export_options(command, arguments.exported, "write the schedules for this reader too");
  add_effort_option(command, arguments.effort);
  add_seed_option(command, arguments.seed, "of the random choices");
  add_threads_option(command, arguments.threads);
  add_link_model_option(command, arguments.link_model);
  require_value(command.add_option("-o,--output", arguments.folder, "the folder of the plan"));
}

}  // namespace

void add_plan_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<PlanArguments>();
  CLI::App* command = app.add_subcommand(
      "plan", "Make the schedules that serve all sizes of some collectives, in a folder");
  add_options(*command, *arguments);
  auto shown = std::make_shared<std::string>();
  CLI::App* show = command->add_subcommand("show", "Say what is in the folder of a plan");
  require_value(show->add_option("DIR", *shown, "written by plan -o")->required());
  show->callback([shown, &code] { code = run_show(*shown); });
  command->callback([arguments, show, &code] {
    if (show->parsed()) {
      return;
    }
    require(arguments->topology, "TOPOLOGY");
    require(arguments->collectives, "--collectives");
    require(arguments->sizes, "--sizes");
    require(arguments->folder, "-o");
    code = run_plan(*arguments);
  });
}

}  // namespace tacos::cli
