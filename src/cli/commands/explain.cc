// SPDX-License-Identifier: MIT
// tacos explain: what limits a schedule, what the gap is made of, what would help.
#include "tacos/explain.h"

#include <algorithm>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/report.h"

namespace tacos::cli {
namespace {

struct ExplainArguments {
  std::string file;
  bool json = false;
};

double share(Ticks part, Ticks whole) {
  return whole.ps == 0 ? 1 : static_cast<double>(part.ps) / static_cast<double>(whole.ps);
}

/// The parts of the time beyond the bandwidth bound, for keys and for people.
struct Part {
  std::string_view key;
  Ticks time;
  std::string_view text;
};

std::vector<Part> parts(const Losses& losses) {
  return {{"fill_us", losses.fill, "until the links that limit it get busy"},
          {"drain_us", losses.drain, "after they have sent their last"},
          {"waiting_us", losses.waiting, "in which they wait for data"},
          {"latency_us", losses.latency, "in which latency or gap holds them"},
          {"extra_us", losses.extra, "for data that crosses them more often than it has to"}};
}

/// A part that is shorter than this, in picoseconds, is not worth a line.
constexpr std::int64_t kShortest = 1'000;

Json remedies_json(const std::vector<Remedy>& remedies) {
  Json list = Json::array();
  for (const Remedy& remedy : remedies) {
    Json one{{"what", remedy.what}, {"bound_us", to_us(remedy.bound)}};
    if (remedy.time) {
      one["collective_time_us"] = to_us(*remedy.time);
      one["efficiency"] = share(remedy.bound, *remedy.time);
    }
    list.push_back(one);
  }
  return list;
}

Json to_json(const Bundle& bundle, const Explanation& explanation) {
  Json json = problem_json(bundle.topology, bundle.collective);
  json["engine"] = bundle.engine;
  json["link_model"] = to_string(bundle.link_model);
  json["collective_time_us"] = to_us(bundle.schedule.collective_time());
  add_bound(json, explanation.bound);
  json["efficiency"] = share(explanation.bound.best.time, bundle.schedule.collective_time());
  json["limit"] =
      explain(bundle.topology, bundle.collective, explanation.bound.bandwidth.certificate);
  json["limiting_links"] = explanation.losses.links;
  json["unused_limiting_links"] = explanation.losses.unused;
  for (const Part& part : parts(explanation.losses)) {
    json["gap"][std::string(part.key)] = to_us(part.time);
  }
  if (chunks_count(bundle, explanation.bound)) {
    json["chunk_bound_us"] = to_us(explanation.bound.chunk_count->time);
  }
  json["faster_links"] = remedies_json(explanation.links);
  json["other_problems"] = remedies_json(explanation.problems);
  return json;
}

void print_text(const Bundle& bundle, const Explanation& explanation) {
  const Ticks time = bundle.schedule.collective_time();
  const BoundReport& bound = explanation.bound;
  emit(stdout,
       "{} of {} on {} takes {}, {:.1f}% of the bound\n\n",
       collective_text(bundle.collective),
       format_size(bundle.collective.size()),
       printable(bundle.topology.name()),
       format_time(time),
       100 * share(bound.best.time, time));
  Table table;
  table.add("limit",
            fmt::format("{} ({}): {}",
                        format_time(bound.bandwidth.time),
                        bound.bandwidth.name,
                        explain(bundle.topology, bundle.collective, bound.bandwidth.certificate)));
  if (bound.best.time > bound.bandwidth.time) {
    table.add("with latency",
              fmt::format("{} ({}): {}",
                          format_time(bound.best.time),
                          bound.best.name,
                          explain(bundle.topology, bundle.collective, bound.best.certificate)));
  }
  if (chunks_count(bundle, bound)) {
    table.add(
        "with whole chunks",
        fmt::format("{}: {}",
                    format_time(bound.chunk_count->time),
                    explain(bundle.topology, bundle.collective, bound.chunk_count->certificate)));
  }
  table.add("beyond the limit", format_time(time - bound.bandwidth.time));
  for (const Part& part : parts(explanation.losses)) {
    if (part.time < Ticks{kShortest}) {
      continue;
    }
    table.add("",
              fmt::format("{:>10}  {:4.1f}%  {}",
                          format_time(part.time),
                          100 * share(part.time, time),
                          part.text));
  }
  if (explanation.losses.unused > 0) {
    table.add("",
              fmt::format("{} of the {} links that limit it carry nothing",
                          format_count(explanation.losses.unused),
                          format_count(explanation.losses.links)));
  }
  const char* label = "would help";
  for (const Remedy& remedy : explanation.links) {
    table.add(label,
              fmt::format("{}: the bound becomes {}", remedy.what, format_time(remedy.bound)));
    label = "";
  }
  for (const Remedy& remedy : explanation.problems) {
    table.add(label,
              fmt::format("{}: {}, {:.1f}% of its bound",
                          remedy.what,
                          format_time(*remedy.time),
                          100 * share(remedy.bound, *remedy.time)));
    label = "";
  }
  table.print(stdout);
}

ExitCode run_explain(const ExplainArguments& arguments) {
  const Result<Bundle> bundle = read_bundle(arguments.file);
  if (!bundle) {
    return fail(bundle.error());
  }
  const int threads = all_cores();
  if (const ExitCode code = check_schedule(arguments.file, *bundle, threads);
      code != ExitCode::kGood) {
    return code;
  }
  const Result<Explanation> explanation = explain_schedule(*bundle, {.threads = threads});
  if (!explanation) {
    return fail(explanation.error());
  }
  if (arguments.json) {
    print_object(to_json(*bundle, *explanation));
  } else {
    print_text(*bundle, *explanation);
  }
  return ExitCode::kGood;
}

}  // namespace

void add_explain_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<ExplainArguments>();
  CLI::App* command =
      app.add_subcommand("explain", "What limits a schedule file, and what would help");
  require_value(
      command->add_option("FILE", arguments->file, "a schedule written by synth -o")->required());
  add_switch(*command, "--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code] { code = run_explain(*arguments); });
}

}  // namespace tacos::cli
