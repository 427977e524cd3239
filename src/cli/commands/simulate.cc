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
#include "cli/sizes.h"
#include "cli/task.h"
#include "cli/terminal/progress.h"

namespace tacos::cli {
namespace {

struct SimulateArguments {
  std::string file;
  std::string link_model;
  std::optional<std::string> size;
  std::vector<std::string> slow;
  double jitter = 0;
  std::uint64_t seed = 1;
  Outputs outputs;
  bool json = false;
};

/// A schedule, and what it is simulated with in place of what it was made for.
struct Scenario {
  Bundle planned;
  Bundle actual;
};

struct Findings {
  Simulation simulation;
  double seconds = 0;
  /// Of all draws, increasing; empty without --jitter.
  std::vector<Ticks> jittered;
};

Result<Topology> slowed(const Bundle& bundle, const std::vector<std::string>& slow) {
  std::vector<std::string> failures;
  failures.reserve(slow.size());
  for (const std::string& text : slow) {
    failures.push_back("slow:" + text);
  }
  Result<DegradedTopology> network = apply_failures(bundle.topology, failures);
  if (network) {
    return std::move(network->topology);
  }
  Error error = std::move(network).error();
  constexpr std::string_view kPrefix = "--fail slow:";
  if (error.where.starts_with(kPrefix)) {
    error.where = "--slow " + error.where.substr(kPrefix.size());
  }
  return error;
}

Result<Collective> resized(const Collective& collective, const std::optional<std::string>& text) {
  if (!text) {
    return collective;
  }
  const Result<Bytes> size = parse_size(*text);
  return size ? cli::resized(collective, *size, "--size") : size.error();
}

Result<Scenario> load_scenario(const SimulateArguments& arguments) {
  if (Status writable = check_outputs(arguments.outputs, arguments.json); !writable) {
    return writable.error();
  }
  Result<Bundle> planned = read_bundle(arguments.file);
  if (!planned) {
    return planned.error();
  }
  Scenario scenario{.planned = *planned, .actual = *planned};
  if (!arguments.link_model.empty()) {
    scenario.actual.link_model = link_model_of(arguments.link_model);
  }
  Result<Topology> topology = slowed(*planned, arguments.slow);
  if (!topology) {
    return topology.error();
  }
  scenario.actual.topology = *std::move(topology);
  Result<Collective> collective = resized(planned->collective, arguments.size);
  if (!collective) {
    return collective.error();
  }
  scenario.actual.collective = *std::move(collective);
  const ChunkTable& chunks = scenario.actual.collective.chunks();
  if (Status fits = check_times(scenario.actual.topology, chunks.max_bytes(), chunks.size());
      !fits) {
    return fits.error();
  }
  return scenario;
}

Result<Findings> run(const SimulateArguments& arguments, const Scenario& scenario) {
  const Bundle& planned = scenario.planned;
  SimulationOptions options{
      .link_model = scenario.actual.link_model,
      .topology = arguments.slow.empty() ? nullptr : &scenario.actual.topology,
      .collective = arguments.size ? &scenario.actual.collective : nullptr,
      .schedule = arguments.outputs.trace.has_value(),
      .threads = all_cores()};
  Progress progress("simulating", planned.schedule.num_transfers());
  options.progress = [&progress](double share) { progress.update(share); };
  const Stopwatch watch;
  Result<Simulation> simulation =
      simulate(planned.topology, planned.collective, planned.schedule, options);
  if (!simulation) {
    return simulation.error();
  }
  Findings findings;
  findings.simulation = *std::move(simulation);
  findings.seconds = watch.seconds();
  if (arguments.jitter > 0) {
    Result<std::vector<Ticks>> draws =
        simulate_jitter(planned.topology,
                        planned.collective,
                        planned.schedule,
                        {.percent = arguments.jitter, .seed = arguments.seed},
                        options);
    if (!draws) {
      return draws.error();
    }
    findings.jittered = *std::move(draws);
  }
  return findings;
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

std::string_view to_string(CriticalStep::Wait wait) {
  switch (wait) {
    case CriticalStep::Wait::kNothing:
      return "nothing";
    case CriticalStep::Wait::kData:
      return "data";
    case CriticalStep::Wait::kLink:
      return "link";
  }
  return "nothing";
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

Json to_json(const SimulateArguments& arguments,
             const Scenario& scenario,
             const Findings& findings) {
  const Bundle& actual = scenario.actual;
  const Simulation& simulation = findings.simulation;
  Json json = problem_json(actual.topology, actual.collective);
  json["engine"] = actual.engine;
  json["link_model"] = tacos::to_string(actual.link_model);
  json["planned_time_us"] = to_us(actual.schedule.collective_time());
  json["simulated_time_us"] = to_us(simulation.time);
  json["utilization"] = simulation.utilization(actual.topology);
  if (!findings.jittered.empty()) {
    json["jitter"] = {{"percent", arguments.jitter},
                      {"seed", arguments.seed},
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
                        link.src.value(),
                        link.dst.value(),
                        100 * simulation.utilization(links[i]));
  }
  return text;
}

void print_text(const SimulateArguments& arguments,
                const Scenario& scenario,
                const Findings& findings) {
  std::FILE* const stream = report_stream(arguments.outputs);
  const Bundle& actual = scenario.actual;
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
                          arguments.jitter,
                          format_time(percentile(findings.jittered, 50)),
                          format_time(percentile(findings.jittered, 95)),
                          findings.jittered.size(),
                          arguments.seed));
  }
  table.add("took",
            fmt::format(
                "{:.3f} s for {} transfers", findings.seconds, format_count(simulation.transfers)));
  table.print(stream);
}

ExitCode run_simulate(const SimulateArguments& arguments) {
  const Result<Scenario> scenario = load_scenario(arguments);
  if (!scenario) {
    return fail(scenario.error());
  }
  const int threads = all_cores();
  if (const ExitCode code = check_schedule(arguments.file, scenario->planned, threads);
      code != ExitCode::kGood) {
    return code;
  }
  const Result<Findings> findings = run(arguments, *scenario);
  if (!findings) {
    return fail(findings.error());
  }
  if (arguments.outputs.trace) {
    Bundle traced = scenario->actual;
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
    print_object(to_json(arguments, *scenario, *findings));
  } else {
    print_text(arguments, *scenario, *findings);
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
  command->add_option("--size", arguments->size, "another buffer; chunks scale [that of the file]");
  command
      ->add_option("--slow",
                   arguments->slow,
                   "A-B=0.5 or A>B=0.5: what is left of a bandwidth; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option_function<std::string>(
          "--jitter",
          [raw = arguments.get()](const std::string& text) { raw->jitter = read_percent(text); },
          "every transfer takes up to so many percent longer, in 32 draws")
      ->type_name("P");
  add_seed_option(*command, arguments->seed, "of the jitter");
  require_value(command->add_option(
      "--trace", arguments->outputs.trace, "write one line per chunk moved to this file, or '-'"));
  add_switch(*command, "--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code] { code = run_simulate(*arguments); });
}

}  // namespace tacos::cli
