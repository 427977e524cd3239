// SPDX-License-Identifier: MIT
// tacos simulate: what a machine makes of a schedule, and what if things were different.
#include "tacos/simulate.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <numeric>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tacos/bundle.h"

#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/outputs.h"
#include "cli/report.h"
#include "cli/task.h"
#include "cli/terminal/progress.h"
#include "cli/terminal/streams.h"
#include "simulate/scenario.h"
#include "topology/names.h"

namespace tacos::cli {
namespace {

struct SimulateArguments {
  std::string file;
  std::string link_model;
  WhatIf what_if;
  Outputs outputs;
  bool json = false;
};

/// A schedule, and what it is simulated with in place of what it was made for.
struct Scene {
  Bundle planned;
  Bundle actual;
};

Scenario as_planned(const Bundle& bundle) {
  return {.topology = bundle.topology,
          .collective = bundle.collective,
          .link_model = bundle.link_model};
}

Result<Scene> load_scene(const SimulateArguments& arguments) {
  if (Status writable = check_outputs(arguments.outputs, arguments.json); !writable) {
    return writable.error();
  }
  Result<Bundle> planned = read_bundle(arguments.file);
  if (!planned) {
    return planned.error();
  }
  Result<Scenario> scenario = make_scenario(as_planned(*planned), arguments.what_if);
  if (!scenario) {
    return scenario.error();
  }
  Scene scene{.planned = *planned, .actual = *planned};
  scene.actual.topology = std::move(scenario->topology);
  scene.actual.collective = std::move(scenario->collective);
  scene.actual.link_model = scenario->link_model;
  return scene;
}

Result<Findings> run(const SimulateArguments& arguments, const Scene& scene) {
  const Bundle& planned = scene.planned;
  Progress progress("simulating", planned.schedule.num_transfers());
  return play(as_planned(planned),
              planned.schedule,
              as_planned(scene.actual),
              arguments.what_if,
              {.schedule = arguments.outputs.trace.has_value(),
               .threads = all_cores(),
               .progress = [&progress](double share) { progress.update(share); }});
}

/// The smallest that so many percent of the draws do not exceed.
Ticks percentile(const std::vector<Ticks>& sorted, std::size_t percent) {
  return sorted[(sorted.size() * percent + 99) / 100 - 1];
}

/// Links that work, the busiest first.
std::vector<LinkId> by_business(const Topology& topology, const Simulation& simulation) {
  std::vector<LinkId> links;
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    if (!topology.failed(LinkId(id))) {
      links.emplace_back(id);
    }
  }
  std::stable_sort(links.begin(), links.end(), [&](LinkId a, LinkId b) {
    return simulation.busy[a.index()] > simulation.busy[b.index()];
  });
  return links;
}

Json step_json(const Topology& topology, const CriticalStep& step) {
  Json links = Json::array();
  for (const LinkId link : step.links) {
    links.push_back(link.value());
  }
  return {{"transfer", step.number},
          {"start_us", to_us(step.start)},
          {"end_us", to_us(step.end)},
          {"src", topology.link(step.links.front()).src.value()},
          {"dst", topology.link(step.links.back()).dst.value()},
          {"chunk", step.chunk.value()},
          {"links", links},
          {"waited_for", to_string(step.wait)}};
}

Json to_json(const SimulateArguments& arguments, const Scene& scene, const Findings& findings) {
  const Bundle& actual = scene.actual;
  const Simulation& simulation = findings.simulation;
  Json json = problem_json(actual.topology, actual.collective);
  json["engine"] = actual.engine;
  json["link_model"] = tacos::to_string(actual.link_model);
  json["planned_time_us"] = to_us(actual.schedule.collective_time());
  json["simulated_time_us"] = to_us(simulation.time);
  json["utilization"] = simulation.utilization(actual.topology);
  if (!findings.jittered.empty()) {
    json["jitter"] = {{"percent", arguments.what_if.jitter.percent},
                      {"seed", arguments.what_if.jitter.seed},
                      {"draws", findings.jittered.size()},
                      {"median_us", to_us(percentile(findings.jittered, 50))},
                      {"p95_us", to_us(percentile(findings.jittered, 95))}};
  }
  const CriticalPath& path = simulation.critical_path;
  json["critical_path_latency_us"] = to_us(path.latency);
  json["critical_path_serialization_us"] = to_us(path.serialization);
  json["critical_path_waiting_us"] = to_us(path.waiting);
  Json& steps = json["critical_path"] = Json::array();
  for (const CriticalStep& step : path.steps) {
    steps.push_back(step_json(actual.topology, step));
  }
  Json& links = json["link_utilization"] = Json::array();
  for (std::uint32_t id = 0; id < actual.topology.num_links(); ++id) {
    links.push_back(simulation.utilization(LinkId(id)));
  }
  json["chunks"] = actual.collective.num_chunks();
  json["transfers"] = simulation.transfers;
  json["simulation_seconds"] = findings.seconds;
  json["peak_rss_bytes"] = peak_rss_bytes();
  json["schedule_hash"] = fmt::format("{:016x}", actual.schedule.hash());
  return json;
}

/// "as planned", "2.0% later than the planned 12 us".
std::string against_plan(Ticks simulated, Ticks planned) {
  if (simulated == planned) {
    return "as planned";
  }
  const double ratio = static_cast<double>(simulated.ps) / static_cast<double>(planned.ps);
  return fmt::format("{:.1f}% {} than the planned {}",
                     100 * (ratio > 1 ? ratio - 1 : 1 - ratio),
                     ratio > 1 ? "later" : "sooner",
                     format_time(planned));
}

/// The first few links and how busy they are.
std::string links_text(const Topology& topology,
                       const Simulation& simulation,
                       std::span<const LinkId> links) {
  constexpr std::size_t kShown = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, links.size()); ++i) {
    const Link& link = topology.link(links[i]);
    text += fmt::format("{}{}>{} {:.1f}%",
                        i == 0 ? "" : ", ",
                        printable(short_name(topology, link.src)),
                        printable(short_name(topology, link.dst)),
                        100 * simulation.utilization(links[i]));
  }
  return text;
}

void print_text(const SimulateArguments& arguments, const Scene& scene, const Findings& findings) {
  std::FILE* const stream = report_stream(arguments.outputs);
  const Bundle& actual = scene.actual;
  const Simulation& simulation = findings.simulation;
  emit(stream,
       "{} on {}: {} simulated, {}\n\n",
       collective_text(actual.collective),
       printable(actual.topology.name()),
       format_time(simulation.time),
       against_plan(simulation.time, actual.schedule.collective_time()));
  Table table;
  table.add("network",
            fmt::format("{} NPUs, {} links, {} model",
                        format_count(actual.topology.num_npus()),
                        format_count(actual.topology.num_working_links()),
                        tacos::to_string(actual.link_model)));
  table.add("buffer",
            fmt::format("{} in {} chunks",
                        format_size(actual.collective.size()),
                        format_count(actual.collective.num_chunks())));
  table.add(
      "utilization",
      fmt::format("{:.1f}%, mean of all links", 100 * simulation.utilization(actual.topology)));
  std::vector<LinkId> links = by_business(actual.topology, simulation);
  table.add("busiest links", links_text(actual.topology, simulation, links));
  std::reverse(links.begin(), links.end());
  table.add("idlest links", links_text(actual.topology, simulation, links));
  const CriticalPath& path = simulation.critical_path;
  table.add("critical path",
            fmt::format("{} transfers: {} latency, {} serialization, {} behind others on a link",
                        format_count(path.steps.size()),
                        format_time(path.latency),
                        format_time(path.serialization),
                        format_time(path.waiting)));
  if (!findings.jittered.empty()) {
    table.add("jitter",
              fmt::format("up to {}% longer: median {}, 95th percentile {} ({} draws, seed {})",
                          arguments.what_if.jitter.percent,
                          format_time(percentile(findings.jittered, 50)),
                          format_time(percentile(findings.jittered, 95)),
                          findings.jittered.size(),
                          arguments.what_if.jitter.seed));
  }
  table.add("took",
            fmt::format(
                "{:.3f} s for {} transfers", findings.seconds, format_count(simulation.transfers)));
  table.print(stream);
}

ExitCode run_simulate(const SimulateArguments& arguments) {
  const Result<Scene> scene = load_scene(arguments);
  if (!scene) {
    return fail(scene.error());
  }
  const int threads = all_cores();
  if (const ExitCode code = check_schedule(arguments.file, scene->planned, threads);
      code != ExitCode::kGood) {
    return code;
  }
  const Result<Findings> findings = run(arguments, *scene);
  if (!findings) {
    return fail(findings.error());
  }
  if (arguments.outputs.trace) {
    Bundle traced = scene->actual;
    traced.schedule = *findings->simulation.schedule;
    Progress progress("writing the trace", traced.schedule.num_transfers());
    const Status written =
        write_trace(traced, *arguments.outputs.trace, {.progress = [&progress](double share) {
                      progress.update(share);
                    }});
    if (!written) {
      return fail(written.error());
    }
  }
  if (arguments.json) {
    print_object(to_json(arguments, *scene, *findings));
  } else {
    print_text(arguments, *scene, *findings);
  }
  return ExitCode::kGood;
}

/// A number of percent, such as 2.5.
double read_percent(const std::string& text) {
  constexpr double kMost = 1000;
  double percent = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, percent, std::chars_format::fixed);
  if (failure != std::errc() || stop != end || !(percent >= 0 && percent <= kMost)) {
    throw CLI::ValidationError("--jitter",
                               fmt::format("'{}' is not a number of percent from 0 to 1000", text));
  }
  return percent;
}

}  // namespace

void add_simulate_command(CLI::App& app, ExitCode& code) {
  auto arguments = std::make_shared<SimulateArguments>();
  CLI::App* command =
      app.add_subcommand("simulate", "Run a schedule file as a machine would, and what-ifs");
  require_value(
      command->add_option("FILE", arguments->file, "a schedule written by synth -o")->required());
  add_link_model_option(*command, arguments->link_model);
  command->add_option(
      "--size", arguments->what_if.size, "another buffer; chunks scale [that of the file]");
  command
      ->add_option("--slow",
                   arguments->what_if.slow,
                   "A-B=0.5 or A>B=0.5: what is left of a bandwidth; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option_function<std::string>(
          "--jitter",
          [raw = arguments.get()](const std::string& text) {
            raw->what_if.jitter.percent = read_percent(text);
          },
          "every transfer takes up to so many percent longer, in 32 draws")
      ->type_name("P");
  add_seed_option(*command, arguments->what_if.jitter.seed, "of the jitter");
  require_value(command->add_option(
      "--trace", arguments->outputs.trace, "write one line per chunk moved to this file, or '-'"));
  add_switch(*command, "--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code] {
    if (!arguments->link_model.empty()) {
      arguments->what_if.link_model = link_model_of(arguments->link_model);
    }
    code = run_simulate(*arguments);
  });
}

}  // namespace tacos::cli
