// SPDX-License-Identifier: MIT
// tacos contingency: the answers to every single failure, in a folder, and which hurts most.
#include "tacos/contingency.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/task.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/streams.h"

namespace tacos::cli {
namespace {

struct ContingencyArguments {
  TaskArguments task;
  std::string link_model = "hold";
  std::uint64_t seed = 1;
  int effort = kDefaultEffort;
  int threads = all_cores();
  std::string folder;
  bool json = false;
};

double slowdown(const ContingencyPlan& plan, const Contingency& row) {
  return plan.time.ps == 0 ? 1
                           : static_cast<double>(row.time.ps) / static_cast<double>(plan.time.ps);
}

Json row_json(const ContingencyPlan& plan, const Contingency& row) {
  Json json{{"fail", row.failure}, {"like", row.like}};
  json["collective_time_us"] = row.possible() ? Json(to_us(row.time)) : Json();
  json["bound_us"] = row.possible() ? Json(to_us(row.bound)) : Json();
  json["slowdown"] = row.possible() ? Json(slowdown(plan, row)) : Json();
  return json;
}

Json to_json(const ContingencyPlan& plan) {
  Json json{{"topology", plan.network},
            {"collective", plan.collective},
            {"link_model", to_string(plan.link_model)},
            {"collective_time_us", to_us(plan.time)},
            {"bound_us", to_us(plan.bound)}};
  const Contingency* const worst = plan.worst();
  json["worst"] = worst != nullptr ? row_json(plan, *worst) : Json();
  json["rows"] = Json::array();
  for (const Contingency& row : plan.rows) {
    json["rows"].push_back(row_json(plan, row));
  }
  return json;
}

/// "12.5% slower".
std::string loss_text(const ContingencyPlan& plan, const Contingency& row) {
  return fmt::format("{:+.1f}%", 100 * (slowdown(plan, row) - 1));
}

/// The failures that no schedule can help, then the slowest: one line for those that are alike.
void print_text(const ContingencyPlan& plan, const std::string& folder) {
  constexpr std::size_t kMostLines = 12;
  std::vector<const Contingency*> rows;
  for (const Contingency& row : plan.rows) {
    if (row.failure == row.like) {
      rows.push_back(&row);
    }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Contingency* a, const Contingency* b) {
    return std::pair(a->possible(), -a->time.ps) < std::pair(b->possible(), -b->time.ps);
  });
  const Contingency* const worst = plan.worst();
  emit(stdout,
       "{} on {} takes {}{}; {} failures, {} answers in {}\n\n",
       plan.collective,
       printable(plan.network),
       format_time(plan.time),
       worst == nullptr ? ""
                        : fmt::format(", after {} {} ({})",
                                      worst->failure,
                                      format_time(worst->time),
                                      loss_text(plan, *worst)),
       format_count(plan.rows.size()),
       format_count(static_cast<std::uint64_t>(std::count_if(
           rows.begin(), rows.end(), [](const Contingency* row) { return row->possible(); }))),
       printable(folder));
  std::vector<std::vector<std::string>> lines{{"fails", "alike", "time", "slower", "bound"}};
  for (std::size_t i = 0; i < std::min(rows.size(), kMostLines); ++i) {
    const Contingency& row = *rows[i];
    const auto alike =
        std::count_if(plan.rows.begin(), plan.rows.end(), [&](const Contingency& other) {
          return other.like == row.failure;
        });
    lines.push_back({row.failure,
                     fmt::format("{}", alike),
                     row.possible() ? format_time(row.time) : "no schedule exists",
                     row.possible() ? loss_text(plan, row) : "",
                     row.possible() ? format_time(row.bound) : ""});
  }
  print_columns(stdout, lines);
  if (rows.size() > kMostLines) {
    emit(stdout, "  and {} that cost less\n", rows.size() - kMostLines);
  }
}

ExitCode run_contingency(const ContingencyArguments& arguments) {
  Result<Task> task = load_task(arguments.task);
  if (!task) {
    return fail(task.error());
  }
  Result<ContingencyPlan> plan = input_error("");
  {
    Progress progress("planning");
    plan = make_contingency(task->topology,
                            task->problem,
                            {.link_model = link_model_of(arguments.link_model),
                             .seed = arguments.seed,
                             .effort = arguments.effort,
                             .threads = arguments.threads,
                             .progress = [&progress](double share) { progress.update(share); }},
                            arguments.folder);
  }
  if (!plan) {
    return fail(plan.error());
  }
  if (arguments.json) {
    print_object(to_json(*plan));
  } else {
    print_text(*plan, arguments.folder);
  }
  return ExitCode::kGood;
}

}  // namespace

void add_contingency_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<ContingencyArguments>();
  CLI::App* command = app.add_subcommand(
      "contingency", "Make the answers to every single failure of a network, in a folder");
  add_task_options(*command, arguments->task);
  add_number(*command,
             "--tolerate",
             {1, 1},
             "how many failures at once; for now one",
             [](std::uint64_t /*number*/) {})
      ->required();
  add_effort_option(*command, arguments->effort);
  add_seed_option(*command, arguments->seed, "of the random choices");
  add_threads_option(*command, arguments->threads);
  add_link_model_option(*command, arguments->link_model);
  CLI::Option* folder =
      command->add_option("-o,--output", arguments->folder, "the folder of the answers");
  require_value(folder);
  folder->required();
  add_switch(*command, "--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code] { code = run_contingency(*arguments); });
}

}  // namespace tacos::cli
