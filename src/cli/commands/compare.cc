// SPDX-License-Identifier: MIT
// tacos compare: the algorithms that people know beside ours, on the same network, timed by the
// same code.
#include "tacos/compare.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/outcome.h"
#include "cli/outputs.h"
#include "cli/report.h"
#include "cli/sizes.h"
#include "cli/task.h"
#include "cli/terminal/progress.h"
#include "draw/line_plot.h"

namespace tacos::cli {
namespace {

struct CompareArguments {
  TaskArguments task;
  std::optional<std::string> sizes;
  std::string link_model = "hold";
  std::uint64_t seed = 1;
  int threads = 1;
  std::optional<std::string> plot;
  bool json = false;
};

/// What its report speaks of.
Outcome row_outcome(const Comparison& comparison, const ComparedAlgorithm& row) {
  return {.bundle = *row.bundle,
          .trials = row.trials,
          .compared = row.compared,
          .threads = row.threads,
          .synthesis_seconds = row.synthesis_seconds,
          .bound = comparison.bound,
          .verify_seconds = row.verify_seconds,
          .verified = true,
          .peaks = {}};
}

Json row_json(const Comparison& round, const ComparedAlgorithm& entry) {
  Json json{{"algorithm", entry.name}};
  json.update(to_json(row_outcome(round, entry)));
  json["forwarded"] = entry.forwarded;
  json["speedup"] = round.speedup(entry);
  json["utilization"] = entry.utilization ? Json(*entry.utilization) : Json();
  return json;
}

void print_json(const std::vector<Comparison>& rounds) {
  Json rows = Json::array();
  Json left_out = Json::array();
  for (const Comparison& round : rounds) {
    for (const ComparedAlgorithm& entry : round.rows) {
      if (entry.bundle) {
        rows.push_back(row_json(round, entry));
      } else {
        left_out.push_back({{"algorithm", entry.name},
                            {"size_bytes", round.size.count},
                            {"reason", entry.failure->message}});
      }
    }
  }
  print_object({{"rows", rows}, {"left_out", left_out}});
}

void print_head(std::FILE* stream,
                const Task& task,
                const Comparison& round,
                const CompareArguments& arguments) {
  const auto best =
      std::find_if(round.rows.begin(), round.rows.end(), [](const ComparedAlgorithm& entry) {
        return entry.name != kOurs && entry.bundle.has_value();
      });
  emit(stream,
       "{} of {} on {}, {} model: tacos takes {}, {:.1f}% of the bound{}\n\n",
       collective_text(round.ours().bundle->collective),
       format_size(round.size),
       printable(task.topology.name()),
       arguments.link_model,
       format_time(round.ours().time()),
       100 * row_outcome(round, round.ours()).efficiency(),
       best == round.rows.end()
           ? std::string()
           : fmt::format(
                 "; the best other, {}, {:.2f} times as long", best->name, round.speedup(*best)));
}

void print_round(std::FILE* stream, const Comparison& round) {
  emit(stream,
       "  {:<20} {:>12} {:>12} {:>12} {:>9} {:>9} {:>12}\n",
       "algorithm",
       "time",
       "algbw, GB/s",
       "busbw, GB/s",
       "of bound",
       "speed-up",
       "utilization");
  bool forwarded = false;
  for (const ComparedAlgorithm& entry : round.rows) {
    if (!entry.bundle) {
      continue;
    }
    const Outcome outcome = row_outcome(round, entry);
    emit(stream,
         "  {:<20} {:>12} {:>12.2f} {:>12.2f} {:>8.1f}% {:>9.2f} {:>12}\n",
         entry.name + (entry.forwarded ? " *" : ""),
         format_time(entry.time()),
         outcome.algbw(),
         outcome.busbw(),
         100 * outcome.efficiency(),
         round.speedup(entry),
         entry.utilization ? fmt::format("{:.1f}%", 100 * *entry.utilization) : "-");
    forwarded = forwarded || entry.forwarded;
  }
  if (forwarded) {
    emit(stream, "\n  * passes NPUs, as if they forwarded; tacos keeps to the network as given\n");
  }
}

/// Why some are missing.
void print_left_out(std::FILE* stream, const Comparison& round) {
  std::string unrelated;
  const char* separator = "\n";
  for (const ComparedAlgorithm& entry : round.rows) {
    if (entry.unrelated) {
      unrelated += (unrelated.empty() ? "" : ", ") + entry.name;
    } else if (!entry.bundle) {
      emit(stream, "{}  left out: {}\n", separator, printable(entry.failure->message));
      separator = "";
    }
  }
  if (!unrelated.empty()) {
    emit(stream, "{}  left out, for other collectives: {}\n", separator, unrelated);
  }
}

/// Bus bandwidth, a line for each size and a column for each algorithm, the best first.
void print_sweep(std::FILE* stream, const std::vector<Comparison>& rounds) {
  std::vector<std::string> names;
  for (const Comparison& round : rounds) {
    for (const ComparedAlgorithm& entry : round.rows) {
      if (entry.bundle && std::find(names.begin(), names.end(), entry.name) == names.end()) {
        names.push_back(entry.name);
      }
    }
  }
  emit(stream, "  bus bandwidth in GB/s\n\n  {:>10}", "size");
  for (const std::string& name : names) {
    emit(stream, " {:>{}}", name, std::max<std::size_t>(8, name.size()));
  }
  emit(stream, "\n");
  for (const Comparison& round : rounds) {
    emit(stream, "  {:>10}", format_size(round.size));
    for (const std::string& name : names) {
      const auto found = std::find_if(round.rows.begin(), round.rows.end(), [&](const auto& e) {
        return e.name == name && e.bundle;
      });
      const std::string text = found == round.rows.end()
                                   ? "-"
                                   : fmt::format("{:.2f}", row_outcome(round, *found).busbw());
      emit(stream, " {:>{}}", text, std::max<std::size_t>(8, name.size()));
    }
    emit(stream, "\n");
  }
}

Status write_plot(const std::vector<Comparison>& rounds,
                  const Task& task,
                  const std::string& path) {
  draw::LinePlot plot{
      .title = fmt::format("{} on {}",
                           collective_text(rounds.front().ours().bundle->collective),
                           task.topology.name()),
      .x = {.title = "buffer",
            .label = [](double value) { return format_size({std::llround(value)}); }},
      .y = {.title = "bus bandwidth, GB/s",
            .label = [](double value) { return fmt::format("{:g}", value); }},
      .lines = {}};
  const auto line_of = [&](const std::string& name) -> draw::Line& {
    const auto found = std::find_if(
        plot.lines.begin(), plot.lines.end(), [&](const auto& line) { return line.name == name; });
    if (found != plot.lines.end()) {
      return *found;
    }
    plot.lines.push_back({.name = name, .points = {}, .emphasized = name == "bound"});
    return plot.lines.back();
  };
  for (const Comparison& round : rounds) {
    const auto size = static_cast<double>(round.size.count);
    const Outcome ours = row_outcome(round, round.ours());
    line_of("bound").points.push_back({size, ours.busbw() / ours.efficiency()});
    for (const ComparedAlgorithm& entry : round.rows) {
      if (entry.bundle) {
        line_of(entry.name).points.push_back({size, row_outcome(round, entry).busbw()});
      }
    }
  }
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) {
    return file.error();
  }
  const Status written = file->write(draw::to_svg(plot));
  return written ? file->commit() : written;
}

Result<std::vector<Comparison>> run_rounds(const CompareArguments& arguments, const Task& task) {
  std::vector<Bytes> sizes{task.problem.size};
  if (arguments.sizes) {
    Result<std::vector<Bytes>> parsed = parse_sizes(*arguments.sizes);
    if (!parsed) {
      return parsed.error();
    }
    sizes = *std::move(parsed);
  }
  const CompareOptions options{.link_model = link_model_of(arguments.link_model),
                               .seed = arguments.seed,
                               .threads = arguments.threads};
  Progress progress("comparing");
  Problem problem = task.problem;
  std::vector<Comparison> rounds;
  for (const Bytes size : sizes) {
    problem.size = size;
    Result<Comparison> round = compare(task.topology, problem, options);
    if (!round) {
      return round.error();
    }
    rounds.push_back(*std::move(round));
    progress.update(static_cast<double>(rounds.size()) / static_cast<double>(sizes.size()));
  }
  return rounds;
}

ExitCode run_compare(const CompareArguments& arguments) {
  if (arguments.sizes && arguments.task.words.size) {
    return fail({.code = ErrorCode::kUsage,
                 .message = "--size and --sizes say different things; leave one of them out",
                 .where = {}});
  }
  const Outputs outputs{.schedule = arguments.plot, .trace = {}};
  if (const Status writable = check_outputs(outputs, arguments.json); !writable) {
    return fail(writable.error());
  }
  const Result<Task> task = load_task(arguments.task);
  if (!task) {
    return fail(task.error());
  }
  const Result<std::vector<Comparison>> rounds = run_rounds(arguments, *task);
  if (!rounds) {
    return fail(rounds.error());
  }
  if (arguments.plot) {
    if (const Status written = write_plot(*rounds, *task, *arguments.plot); !written) {
      return fail(written.error());
    }
  }
  if (arguments.json) {
    print_json(*rounds);
    return ExitCode::kGood;
  }
  std::FILE* const stream = report_stream(outputs);
  print_head(stream, *task, rounds->back(), arguments);
  if (arguments.sizes) {
    print_sweep(stream, *rounds);
  } else {
    print_round(stream, rounds->front());
  }
  print_left_out(stream, rounds->back());
  return ExitCode::kGood;
}

}  // namespace

void add_compare_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<CompareArguments>();
  arguments->threads = all_cores();
  CLI::App* command =
      app.add_subcommand("compare", "Ours beside the algorithms that people know, timed alike");
  add_task_options(*command, arguments->task);
  command->add_option(
      "--sizes", arguments->sizes, "a range of buffers by powers of four, 1KiB..1GiB");
  add_link_model_option(*command, arguments->link_model);
  add_seed_option(*command, arguments->seed, "of the random choices");
  require_value(command->add_option(
      "--plot", arguments->plot, "draw bandwidth against size into this SVG file"));
  add_switch(*command, "--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code] { code = run_compare(*arguments); });
}

}  // namespace tacos::cli
