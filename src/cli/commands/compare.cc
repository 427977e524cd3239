// SPDX-License-Identifier: MIT
// tacos compare: the algorithms that people know beside ours, on the same network, timed by the
// same code.
#include <algorithm>
#include <cmath>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files/file.h"
#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/comparison.h"
#include "cli/options.h"
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

const Entry& ours_of(const Round& round) {
  return *std::find_if(round.entries.begin(), round.entries.end(), [](const Entry& entry) {
    return entry.algorithm == "tacos";
  });
}

/// How many times as long as ours another takes.
double speedup(const Round& round, const Entry& entry) {
  const Ticks ours = ours_of(round).time();
  return ours.ps == 0 ? 1 : static_cast<double>(entry.time().ps) / static_cast<double>(ours.ps);
}

Json row_json(const Round& round, const Entry& entry) {
  Json json{{"algorithm", entry.algorithm}};
  json.update(to_json(*entry.outcome));
  json["forwarded"] = entry.forwarded;
  json["speedup"] = speedup(round, entry);
  json["utilization"] = entry.utilization ? Json(*entry.utilization) : Json();
  return json;
}

void print_json(const std::vector<Round>& rounds) {
  Json rows = Json::array();
  Json left_out = Json::array();
  for (const Round& round : rounds) {
    for (const Entry& entry : round.entries) {
      if (entry.outcome) {
        rows.push_back(row_json(round, entry));
      } else {
        left_out.push_back({{"algorithm", entry.algorithm},
                            {"size_bytes", round.size.count},
                            {"reason", entry.failure->message}});
      }
    }
  }
  print_object({{"rows", rows}, {"left_out", left_out}});
}

void print_head(std::FILE* stream,
                const Task& task,
                const Round& round,
                const CompareArguments& arguments) {
  const auto best =
      std::find_if(round.entries.begin(), round.entries.end(), [](const Entry& entry) {
        return entry.algorithm != "tacos" && entry.outcome.has_value();
      });
  emit(stream,
       "{} of {} on {}, {} model: tacos takes {}, {:.1f}% of the bound{}\n\n",
       collective_text(ours_of(round).outcome->bundle.collective),
       format_size(round.size),
       printable(task.topology.name()),
       arguments.link_model,
       format_time(ours_of(round).time()),
       100 * ours_of(round).outcome->efficiency(),
       best == round.entries.end() ? std::string()
                                   : fmt::format("; the best other, {}, {:.2f} times as long",
                                                 best->algorithm,
                                                 speedup(round, *best)));
}

void print_round(std::FILE* stream, const Round& round) {
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
  for (const Entry& entry : round.entries) {
    if (!entry.outcome) {
      continue;
    }
    emit(stream,
         "  {:<20} {:>12} {:>12.2f} {:>12.2f} {:>8.1f}% {:>9.2f} {:>12}\n",
         entry.algorithm + (entry.forwarded ? " *" : ""),
         format_time(entry.time()),
         entry.outcome->algbw(),
         entry.outcome->busbw(),
         100 * entry.outcome->efficiency(),
         speedup(round, entry),
         entry.utilization ? fmt::format("{:.1f}%", 100 * *entry.utilization) : "-");
    forwarded = forwarded || entry.forwarded;
  }
  if (forwarded) {
    emit(stream, "\n  * passes NPUs, as if they forwarded; tacos keeps to the network as given\n");
  }
}

/// Why some are missing.
void print_left_out(std::FILE* stream, const Round& round) {
  std::string unrelated;
  const char* separator = "\n";
  for (const Entry& entry : round.entries) {
    if (entry.unrelated) {
      unrelated += (unrelated.empty() ? "" : ", ") + entry.algorithm;
    } else if (!entry.outcome) {
      emit(stream, "{}  left out: {}\n", separator, printable(entry.failure->message));
      separator = "";
    }
  }
  if (!unrelated.empty()) {
    emit(stream, "{}  left out, for other collectives: {}\n", separator, unrelated);
  }
}

/// Bus bandwidth, a line for each size and a column for each algorithm, the best first.
void print_sweep(std::FILE* stream, const std::vector<Round>& rounds) {
  std::vector<std::string> names;
  for (const Round& round : rounds) {
    for (const Entry& entry : round.entries) {
      if (entry.outcome && std::find(names.begin(), names.end(), entry.algorithm) == names.end()) {
        names.push_back(entry.algorithm);
      }
    }
  }
  emit(stream, "  bus bandwidth in GB/s\n\n  {:>10}", "size");
  for (const std::string& name : names) {
    emit(stream, " {:>{}}", name, std::max<std::size_t>(8, name.size()));
  }
  emit(stream, "\n");
  for (const Round& round : rounds) {
    emit(stream, "  {:>10}", format_size(round.size));
    for (const std::string& name : names) {
      const auto found =
          std::find_if(round.entries.begin(), round.entries.end(), [&](const auto& e) {
            return e.algorithm == name && e.outcome;
          });
      const std::string text =
          found == round.entries.end() ? "-" : fmt::format("{:.2f}", found->outcome->busbw());
      emit(stream, " {:>{}}", text, std::max<std::size_t>(8, name.size()));
    }
    emit(stream, "\n");
  }
}

Status write_plot(const std::vector<Round>& rounds, const Task& task, const std::string& path) {
  draw::LinePlot plot{
      .title = fmt::format("{} on {}",
                           collective_text(ours_of(rounds.front()).outcome->bundle.collective),
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
  for (const Round& round : rounds) {
    const auto size = static_cast<double>(round.size.count);
    const Outcome& ours = *ours_of(round).outcome;
    line_of("bound").points.push_back({size, ours.busbw() / ours.efficiency()});
    for (const Entry& entry : round.entries) {
      if (entry.outcome) {
        line_of(entry.algorithm).points.push_back({size, entry.outcome->busbw()});
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

Result<std::vector<Round>> run_rounds(const CompareArguments& arguments, const Task& task) {
  std::vector<Bytes> sizes{task.size};
  if (arguments.sizes) {
    Result<std::vector<Bytes>> parsed = parse_sizes(*arguments.sizes);
    if (!parsed) {
      return parsed.error();
    }
    sizes = *std::move(parsed);
  }
  const Comparison comparison(task,
                              {.link_model = link_model_of(arguments.link_model),
                               .seed = arguments.seed,
                               .threads = arguments.threads});
  Progress progress("comparing");
  std::vector<Round> rounds;
  for (const Bytes size : sizes) {
    Result<Round> round = comparison.run(size);
    if (!round) {
      return round.error();
    }
    rounds.push_back(*std::move(round));
    progress.update(static_cast<double>(rounds.size()) / static_cast<double>(sizes.size()));
  }
  return rounds;
}

ExitCode run_compare(const CompareArguments& arguments) {
  if (arguments.sizes && arguments.task.size) {
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
  const Result<std::vector<Round>> rounds = run_rounds(arguments, *task);
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
