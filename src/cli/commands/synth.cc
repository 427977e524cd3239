// SPDX-License-Identifier: MIT
// tacos synth: synthesize, bound, verify, write, report, in this order.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "tacos/bound.h"
#include "tacos/bundle.h"
#include "tacos/synthesize.h"
#include "tacos/topology.h"
#include "tacos/verify.h"

#include "base/files/file.h"
#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
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
  std::string link_model = "hold";
  std::uint64_t seed = 1;
  int threads = 0;
  std::optional<std::string> stream;
  Outputs outputs;
  bool json = false;
};

/// Everything that a report speaks of.
struct Outcome {
  Bundle bundle;
  std::int64_t trials = 0;
  std::vector<Synthesis::Comparison> compared;
  int threads = 1;
  double synthesis_seconds = 0;
  BoundReport bound = {};
  double bound_seconds = 0;
  double verify_seconds = 0;
  bool verified = false;
  /// Of each process, when there are several: the most memory that it has used for synthesis.
  std::vector<std::size_t> peaks;

  /// 1 when nothing has to move.
  [[nodiscard]] double efficiency() const {
    const Ticks time = bundle.schedule.collective_time();
    return time.ps == 0 ? 1
                        : static_cast<double>(bound.best.time.ps) / static_cast<double>(time.ps);
  }
};

double algorithm_bandwidth(const Bundle& bundle) {
  const double us = to_us(bundle.schedule.collective_time());
  return us == 0 ? 0 : static_cast<double>(bundle.collective.size().count) * 1e-3 / us;
}

/// A whole number where there is one: All-Reduce may cut its buffer into any number of chunks.
Json chunks_per_npu(const Collective& collective) {
  const std::uint32_t chunks = collective.num_chunks();
  const std::uint32_t npus = collective.num_participants();
  return chunks % npus == 0 ? Json(chunks / npus) : Json(static_cast<double>(chunks) / npus);
}

Json to_json(const Outcome& outcome) {
  const Bundle& bundle = outcome.bundle;
  const double algbw = algorithm_bandwidth(bundle);
  Json json = problem_json(bundle.topology, bundle.collective);
  json["chunks_per_npu"] = chunks_per_npu(bundle.collective);
  json["engine"] = bundle.engine;
  json["seed"] = bundle.seed;
  json["trials"] = outcome.trials;
  json["threads"] = outcome.threads;
  json["link_model"] = to_string(bundle.link_model);
  json["collective_time_us"] = to_us(bundle.schedule.collective_time());
  json["algbw_GBps"] = algbw;
  json["busbw_GBps"] = algbw * bundle.collective.bus_factor();
  add_bound(json, outcome.bound);
  json["efficiency"] = outcome.efficiency();
  json["chunks"] = bundle.collective.num_chunks();
  json["transfers"] = bundle.schedule.num_transfers();
  json["synthesis_seconds"] = outcome.synthesis_seconds;
  json["bound_seconds"] = outcome.bound_seconds;
  json["verify_seconds"] = outcome.verify_seconds;
  json["peak_rss_bytes"] = peak_rss_bytes();
  if (!outcome.peaks.empty()) {
    json["processes"] = outcome.peaks.size();
    json["synthesis_peak_rss_bytes"] = outcome.peaks;
  }
  json["verified"] = outcome.verified;
  json["schedule_hash"] = fmt::format("{:016x}", bundle.schedule.hash());
  return json;
}

/// Which engine, and what others reached.
std::string engine_text(const Outcome& outcome) {
  std::string text = fmt::format("{}, seed {}", outcome.bundle.engine, outcome.bundle.seed);
  const char* separator = " (";
  for (const Synthesis::Comparison& other : outcome.compared) {
    if (other.engine != outcome.bundle.engine) {
      text += fmt::format(
          "{}{} {}",
          separator,
          other.engine,
          other.left_out ? "left out" : "would take " + format_time(other.collective_time));
      separator = ", ";
    }
  }
  return text + (outcome.compared.size() > 1 ? ")" : "");
}

/// " (8 take part)", or nothing when all do.
std::string group_text(const Bundle& bundle) {
  const std::uint32_t participants = bundle.collective.num_participants();
  return participants == bundle.topology.num_npus()
             ? std::string()
             : fmt::format(" ({} take part)", format_count(participants));
}

void print_text(const Outcome& outcome, const SynthArguments& arguments) {
  std::FILE* const stream = report_stream(arguments.outputs);
  const Bundle& bundle = outcome.bundle;
  const Collective& collective = bundle.collective;
  const double algbw = algorithm_bandwidth(bundle);
  emit(stream,
       "{} on {}: {}, {:.1f}% of the bound, verified\n\n",
       collective_text(collective),
       printable(bundle.topology.name()),
       format_time(bundle.schedule.collective_time()),
       100 * outcome.efficiency());
  Table table;
  table.add("network",
            fmt::format("{} NPUs{}, {} links, {} model",
                        format_count(bundle.topology.num_npus()),
                        group_text(bundle),
                        format_count(bundle.topology.num_working_links()),
                        to_string(bundle.link_model)));
  table.add("buffer",
            fmt::format("{} in {} chunks",
                        format_size(collective.size()),
                        format_count(collective.num_chunks())));
  table.add("bandwidth",
            fmt::format(
                "{:.2f} GB/s algorithm, {:.2f} GB/s bus", algbw, algbw * collective.bus_factor()));
  table.add("bound",
            fmt::format("{} ({}): {}",
                        format_time(outcome.bound.best.time),
                        outcome.bound.best.name,
                        explain(bundle.topology, collective, outcome.bound.best.certificate)));
  table.add("engine", engine_text(outcome));
  table.add("schedule",
            fmt::format("{} transfers, hash {:016x}",
                        format_count(bundle.schedule.num_transfers()),
                        bundle.schedule.hash()));
  table.add("took",
            fmt::format("{:.3f} s to synthesize, {:.3f} s to bound, {:.3f} s to verify",
                        outcome.synthesis_seconds,
                        outcome.bound_seconds,
                        outcome.verify_seconds));
  if (arguments.outputs.schedule) {
    table.add("written to", printable(*arguments.outputs.schedule));
  }
  table.print(stream);
}

/// The same at every member of the team, or the same error.
Result<Task> load_together(const SynthArguments& arguments, Team& team) {
  Status writable = team.leads() ? check_outputs(arguments.outputs, arguments.json) : ok();
  if (writable && arguments.stream) {
    writable = check_directory(*arguments.stream);
  }
  Result<Task> task = writable ? load_task(arguments.task) : Result<Task>(writable.error());
  if (team.size() == 1) {
    return task;
  }
  // Files may differ, or be missing, where some members run.
  const auto error = first_error(team, task ? std::nullopt : std::optional<Error>(task.error()));
  return error ? Result<Task>(*error) : std::move(task);
}

Result<Outcome> synthesize_outcome(const SynthArguments& arguments, Team& team) {
  Result<Task> task = load_together(arguments, team);
  if (!task) {
    return task.error();
  }
  const Problem problem{.kind = task->kind,
                        .size = task->size,
                        .chunks = arguments.chunks,
                        .participants = std::move(task->participants),
                        .root = task->root,
                        .custom = std::move(task->custom)};
  if (problem.custom && problem.chunks) {
    return input_error("has its chunks in the file; leave out --chunks", arguments.task.collective);
  }
  EngineOptions options{
      {.engine = arguments.engine,
       .link_model = arguments.link_model == "hold" ? LinkModel::kHold : LinkModel::kPipelined,
       .seed = arguments.seed,
       .trials = arguments.trials,
       .threads = arguments.threads,
       .stream_directory = arguments.stream.value_or("")},
      team.size() > 1 ? &team : nullptr};
  Progress progress("synthesizing");
  options.progress = [&progress](double share) { progress.update(share); };
  const Stopwatch watch;
  Result<Synthesis> synthesis = synthesize_by_team(task->topology, problem, options);
  const double seconds = watch.seconds();
  if (!synthesis) {
    return synthesis.error();
  }
  if (synthesis->status == SynthesisStatus::kInfeasible) {
    return infeasible(task->topology, *synthesis->unreachable);
  }
  return Outcome{
      .bundle = {.topology = std::move(task->topology),
                 .collective = std::move(*synthesis->collective),
                 .link_model = options.link_model,
                 .schedule = std::move(*synthesis->schedule),
                 .engine = synthesis->engine,
                 .seed = options.seed},
      .trials = synthesis->trials,
      .compared = std::move(synthesis->compared),
      .threads = options.threads,
      .synthesis_seconds = seconds,
      .peaks = team.size() > 1 ? all_gather(team, peak_rss_bytes()) : std::vector<std::size_t>()};
}

Status bound_outcome(Outcome& outcome) {
  const Bundle& bundle = outcome.bundle;
  const Stopwatch watch;
  Result<BoundReport> report = compute_bounds(
      bundle.topology,
      bundle.collective,
      {.effort = effort_beside_schedule(bundle.topology), .link_model = bundle.link_model});
  if (!report) {
    return report.error();
  }
  outcome.bound = std::move(*report);
  outcome.bound_seconds = watch.seconds();
  if (outcome.bound.best.time > bundle.schedule.collective_time()) {
    return Error{.code = ErrorCode::kInternal,
                 .message = fmt::format("the bound of {} ps is above the schedule's {} ps",
                                        outcome.bound.best.time.ps,
                                        bundle.schedule.collective_time().ps),
                 .where = bundle.topology.name()};
  }
  return ok();
}

/// Replays the schedule; the exit code is good only when it is correct.
ExitCode verify_outcome(Outcome& outcome) {
  const Bundle& bundle = outcome.bundle;
  const Stopwatch watch;
  const Result<VerifyReport> report = verify_with_progress(bundle, outcome.threads);
  outcome.verify_seconds = watch.seconds();
  if (!report) {
    return fail(report.error());
  }
  outcome.verified = report->valid();
  if (!report->valid()) {
    complain(fmt::format("the schedule is wrong: {}", report->violations.front()));
    return ExitCode::kVerificationFailed;
  }
  return ExitCode::kGood;
}

WriteOptions write_options(const SynthArguments& arguments, Progress& progress) {
  return {.threads = arguments.threads,
          .progress = [&progress](double share) { progress.update(share); }};
}

/// Verifies, bounds, writes and reports.
ExitCode finish(Outcome& outcome, const SynthArguments& arguments) {
  const Bundle& bundle = outcome.bundle;
  if (const ExitCode code = verify_outcome(outcome); code != ExitCode::kGood) {
    return code;
  }
  if (const Status bounded = bound_outcome(outcome); !bounded) {
    return fail(bounded.error());
  }
  if (arguments.outputs.schedule) {
    Progress progress("writing", bundle.schedule.num_transfers());
    const Status written =
        write_bundle(bundle, *arguments.outputs.schedule, write_options(arguments, progress));
    if (!written) {
      return fail(written.error());
    }
  }
  if (arguments.outputs.trace) {
    Progress progress("writing the trace", bundle.schedule.num_transfers());
    const Status written =
        write_trace(bundle, *arguments.outputs.trace, write_options(arguments, progress));
    if (!written) {
      return fail(written.error());
    }
  }
  if (arguments.json) {
    print_object(to_json(outcome));
  } else {
    print_text(outcome, arguments);
  }
  return ExitCode::kGood;
}

ExitCode run_synth(const SynthArguments& arguments, Team& team) {
  Result<Outcome> outcome = synthesize_outcome(arguments, team);
  if (!outcome) {
    return fail(outcome.error());
  }
  ExitCode code = ExitCode::kGood;
  source_of(outcome->bundle.schedule).read_together([&] {
    if (team.leads()) {
      code = finish(*outcome, arguments);
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
  constexpr std::uint64_t kMostThreads = 1024;
  static constexpr std::array<std::string_view, 2> kModels{"hold", "pipelined"};
  add_number(command,
             "--chunks",
             {1, kMost},
             "chunks per NPU (all-reduce: of the buffer; all-to-all: per pair)",
             [&arguments](std::uint64_t number) { arguments.chunks = number; });
  add_choice(command, "--engine", arguments.engine, engine_names(), "engine", "how to synthesize");
  add_number(command,
             "--seed",
             {0, std::numeric_limits<std::uint64_t>::max()},
             "of the random choices",
             [&arguments](std::uint64_t number) { arguments.seed = number; })
      ->default_str(fmt::format("{}", arguments.seed));
  add_number(command,
             "--trials",
             {1, kMostTrials},
             "attempts, the best kept",
             [&arguments](std::uint64_t number) { arguments.trials = number; });
  add_number(command,
             "--threads",
             {1, kMostThreads},
             "never changes the result",
             [&arguments](std::uint64_t number) { arguments.threads = static_cast<int>(number); })
      ->default_str(fmt::format("{}", arguments.threads));
  add_choice(command,
             "--link-model",
             arguments.link_model,
             kModels,
             "link model",
             "what a link is busy with");
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
