// SPDX-License-Identifier: MIT
// tacos synth: synthesize, verify, bound, write, report, in this order.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "tacos/synthesize.h"
#include "tacos/topology.h"

#include "base/files/file.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/outcome.h"
#include "cli/outputs.h"
#include "cli/report.h"
#include "cli/task.h"
#include "cli/terminal/progress.h"
#include "schedule/source.h"
#include "synthesis/by_team.h"

namespace tacos::cli {
namespace {

struct SynthArguments {
  TaskArguments task;
  std::optional<std::int64_t> chunks;
  std::optional<std::int64_t> trials;
  std::string engine = "auto";
  std::string form = "auto";
  int effort = SynthesisOptions{}.effort;
  std::string link_model = "hold";
  std::uint64_t seed = 1;
  int threads = 0;
  std::optional<std::string> stream;
  Outputs outputs;
  bool json = false;
};

/// The same at every member of the team, or the same error.
Result<Task> load_together(const SynthArguments& arguments, Team& team) {
  Status writable = team.leads() ? check_outputs(arguments.outputs, arguments.json) : ok();
  if (writable && arguments.stream) {
    writable = check_directory(*arguments.stream);
  }
  TaskArguments asked = arguments.task;
  asked.doubts = team.leads() ? Doubts::kTell : Doubts::kKeep;
  Result<Task> task = writable ? load_task(asked) : Result<Task>(writable.error());
  if (team.size() == 1) {
    return task;
  }
  // Files may differ, or be missing, where some members run.
  const auto error = first_error(team, task ? std::nullopt : std::optional<Error>(task.error()));
  return error ? Result<Task>(*error) : std::move(task);
}

std::optional<CollectiveForm> form_of(const std::string& name) {
  const Result<CollectiveForm> form = parse_collective_form(name);
  return form ? std::optional(*form) : std::nullopt;
}

Result<Outcome> synthesize_outcome(const SynthArguments& arguments, Team& team) {
  Result<Task> task = load_together(arguments, team);
  if (!task) {
    return task.error();
  }
  Problem& problem = task->problem;
  problem.chunks = arguments.chunks;
  problem.form = form_of(arguments.form);
  if (problem.custom && problem.chunks) {
    return input_error("has its chunks in the file; leave out --chunks",
                       arguments.task.words.collective);
  }
  EngineOptions options{{.engine = arguments.engine,
                         .link_model = link_model_of(arguments.link_model),
                         .seed = arguments.seed,
                         .effort = arguments.effort,
                         .trials = arguments.trials,
                         .threads = arguments.threads,
                         .stream_directory = arguments.stream.value_or("")},
                        team.size() > 1 ? &team : nullptr};
  Progress progress("synthesizing");
  options.progress = [&progress](double share) { progress.update(share); };
  const Stopwatch watch;
  Result<Synthesis> synthesis = synthesize_by_team(task->topology, problem, options);
  Result<Outcome> outcome =
      outcome_of(task->topology, std::move(synthesis), options, watch.seconds());
  if (outcome && team.size() > 1) {
    outcome->peaks = all_gather(team, peak_rss_bytes());
  }
  return outcome;
}

ExitCode run_synth(const SynthArguments& arguments, Team& team) {
  Result<Outcome> outcome = synthesize_outcome(arguments, team);
  if (!outcome) {
    return fail(outcome.error());
  }
  ExitCode code = verify_outcome(*outcome, team);
  if (code != ExitCode::kGood) {
    return code;
  }
  source_of(outcome->bundle.schedule).read_together([&] {
    if (team.leads()) {
      code = finish(*outcome, arguments.outputs, arguments.json);
    }
  });
  return code;
}

/// The cores of this machine, shared with the members of the team that run on it too.
int default_threads(Team& team) {
  const std::vector<int> machines = all_gather(team, team.machine());
  const auto here = std::count(machines.begin(), machines.end(), team.machine());
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency() / here));
}

/// How to synthesize.
void add_work_options(CLI::App& command, SynthArguments& arguments) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::uint64_t kMostTrials = 1'000'000;
  add_number(command,
             "--chunks",
             {1, kMost},
             "chunks per NPU (all-reduce: of the buffer; all-to-all: per pair)",
             [&arguments](std::uint64_t number) { arguments.chunks = number; });
  add_choice(command, "--engine", arguments.engine, engine_names(), "engine", "how to synthesize");
  add_effort_option(command, arguments.effort);
  static constexpr std::array<std::string_view, 3> kForms{"auto", "direct", "gathered"};
  add_choice(command,
             "--form",
             arguments.form,
             kForms,
             "form",
             "of sums: made on the way, or by those who need them");
  add_seed_option(command, arguments.seed, "of the random choices");
  add_number(command,
             "--trials",
             {1, kMostTrials},
             "attempts, the best kept",
             [&arguments](std::uint64_t number) { arguments.trials = number; });
  add_threads_option(command, arguments.threads);
  add_link_model_option(command, arguments.link_model);
}

}  // namespace

void add_synth_command(CLI::App& app, ExitCode& code, Team& team) {
  auto arguments = std::make_shared<SynthArguments>();
  arguments->threads = default_threads(team);
  CLI::App* command = app.add_subcommand("synth", "Synthesize a schedule, verify it, report");
  add_task_options(*command, arguments->task);
  add_work_options(*command, *arguments);
  require_value(command->add_option(
      "--stream", arguments->stream, "keep large schedules in this directory instead of memory"));
  require_value(
      command->add_option("-o,--output",
                          arguments->outputs.schedule,
                          "write the schedule to this file; '-' is stdout, the report on stderr"));
  require_value(command->add_option(
      "--trace", arguments->outputs.trace, "write one line per chunk moved to this file, or '-'"));
  add_switch(*command, "--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code, &team] { code = run_synth(*arguments, team); });
}

}  // namespace tacos::cli
