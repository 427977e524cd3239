// SPDX-License-Identifier: MIT
// tacos resilience: how bandwidth falls as links fail.
#include "tacos/resilience.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/report.h"
#include "cli/task.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/streams.h"
#include "draw/line_plot.h"

namespace tacos::cli {
namespace {

struct ResilienceArguments {
  TaskArguments task;
  std::string link_model = "hold";
  ResilienceOptions options;
  std::optional<std::string> plot;
  bool json = false;
};

/// Bytes of the buffer per time, in GB/s.
double bandwidth(Bytes size, Ticks time) {
  return time.ps == 0 ? 0 : static_cast<double>(size.count) * 1e-3 / to_us(time);
}

Json to_json(const Task& task, const std::vector<ResilienceRow>& rows) {
  Json json{{"topology", task.topology.name()},
            {"collective", to_string(task.problem.kind)},
            {"size_bytes", task.problem.size.count}};
  json["rows"] = Json::array();
  for (const ResilienceRow& row : rows) {
    const bool any = row.connected > 0;
    Json one{{"failed_percent", row.failed_percent},
             {"failed_cables", row.failed_cables},
             {"draws", row.connected},
             {"cut_off", row.cut_off}};
    one["mean_time_us"] = any ? Json(to_us(row.mean_time)) : Json();
    one["worst_time_us"] = any ? Json(to_us(row.worst_time)) : Json();
    one["mean_bound_us"] = any ? Json(to_us(row.mean_bound)) : Json();
    one["mean_algbw_GBps"] = any ? Json(bandwidth(task.problem.size, row.mean_time)) : Json();
    json["rows"].push_back(one);
  }
  return json;
}

Status write_plot(const Task& task,
                  const std::vector<ResilienceRow>& rows,
                  const std::string& path) {
  draw::LinePlot plot{
      .title =
          fmt::format("{} on {}", to_string(task.problem.kind), printable(task.topology.name())),
      .x = {.title = "cables that failed",
            .label = [](double value) { return fmt::format("{:g}%", value); },
            .spacing = draw::Spacing::kLinear},
      .y = {.title = "algorithm bandwidth",
            .label = [](double value) { return fmt::format("{:g} GB/s", value); },
            .spacing = draw::Spacing::kLinear},
      .lines = {{.name = "bound", .points = {}, .emphasized = true},
                {.name = "mean", .points = {}},
                {.name = "worst", .points = {}}}};
  for (const ResilienceRow& row : rows) {
    if (row.connected == 0) {
      continue;
    }
    const double x = row.failed_percent;
    plot.lines[0].points.push_back({.x = x, .y = bandwidth(task.problem.size, row.mean_bound)});
    plot.lines[1].points.push_back({.x = x, .y = bandwidth(task.problem.size, row.mean_time)});
    plot.lines[2].points.push_back({.x = x, .y = bandwidth(task.problem.size, row.worst_time)});
  }
  return write_text_file(path, draw::to_svg(plot));
}

void print_text(const Task& task, const std::vector<ResilienceRow>& rows, std::FILE* stream) {
  const ResilienceRow& whole = rows.front();
  const ResilienceRow& last = rows.back();
  emit(stream,
       "{} on {}: {:.2f} GB/s, {} with {}% of its cables failed\n\n",
       to_string(task.problem.kind),
       printable(task.topology.name()),
       bandwidth(task.problem.size, whole.mean_time),
       last.connected == 0
           ? "cut off"
           : fmt::format("{:.2f} GB/s", bandwidth(task.problem.size, last.mean_time)),
       last.failed_percent);
  std::vector<std::vector<std::string>> lines{
      {"failed", "cables", "bandwidth", "mean", "worst", "mean bound", "draws"}};
  for (const ResilienceRow& row : rows) {
    const bool any = row.connected > 0;
    const std::string cut_off =
        row.cut_off == 0 ? std::string() : fmt::format(", {} cut off", row.cut_off);
    lines.push_back(
        {fmt::format("{}%", row.failed_percent),
         fmt::format("{}", row.failed_cables),
         any ? fmt::format("{:.2f} GB/s", bandwidth(task.problem.size, row.mean_time)) : "-",
         any ? format_time(row.mean_time) : "-",
         any ? format_time(row.worst_time) : "-",
         any ? format_time(row.mean_bound) : "-",
         fmt::format("{}{}", row.connected, cut_off)});
  }
  print_columns(stream, lines);
}

ExitCode run_resilience(const ResilienceArguments& arguments) {
  const Outputs outputs{.schedule = arguments.plot, .trace = {}};
  if (const Status writable = check_outputs(outputs, arguments.json); !writable) {
    return fail(writable.error());
  }
  const Result<Task> task = load_task(arguments.task);
  if (!task) {
    return fail(task.error());
  }
  ResilienceOptions options = arguments.options;
  options.link_model = link_model_of(arguments.link_model);
  Result<std::vector<ResilienceRow>> rows = std::vector<ResilienceRow>();
  {
    Progress progress("breaking links");
    options.progress = [&progress](double share) { progress.update(share); };
    rows = measure_resilience(task->topology, task->problem, options);
  }
  if (!rows) {
    return fail(rows.error());
  }
  if (arguments.plot) {
    if (const Status written = write_plot(*task, *rows, *arguments.plot); !written) {
      return fail(written.error());
    }
  }
  if (arguments.json) {
    print_object(to_json(*task, *rows));
  } else {
    print_text(*task, *rows, report_stream(outputs));
  }
  return ExitCode::kGood;
}

}  // namespace

void add_resilience_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<ResilienceArguments>();
  arguments->options.threads = all_cores();
  CLI::App* command =
      app.add_subcommand("resilience", "Say how bandwidth falls as links of a network fail");
  add_task_options(*command, arguments->task);
  constexpr std::uint64_t kMostDraws = 1'000;
  add_number(*command,
             "--draws",
             {1, kMostDraws},
             "in how many ways links are made to fail [5]",
             [arguments](std::uint64_t number) {
               arguments->options.draws = static_cast<std::uint32_t>(number);
             });
  add_effort_option(*command, arguments->options.effort);
  add_seed_option(*command, arguments->options.seed, "of the links that fail, and random choices");
  add_threads_option(*command, arguments->options.threads);
  add_link_model_option(*command, arguments->link_model);
  require_value(command->add_option(
      "--plot", arguments->plot, "draw bandwidth against failed cables into this SVG file"));
  add_switch(*command, "--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code] { code = run_resilience(*arguments); });
}

}  // namespace tacos::cli
