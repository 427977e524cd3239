// SPDX-License-Identifier: MIT
// tacos-mpi run: a schedule on the ranks that mpirun started, with real data, beside the library.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tacos/lower.h"
#include "tacos/plan.h"
#include "tacos/simulate.h"

#include "base/parallel/agree.h"
#include "base/text/quantity.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/rank_run.h"
#include "cli/report.h"
#include "cli/sizes.h"
#include "collective/resize.h"

namespace tacos::cli {
namespace {

struct RunArguments {
  std::string file;
  std::optional<std::string> sizes;
  std::string type = "float32";
  std::string op = "sum";
  std::string limit = "30s";
  RunOptions options;
  bool json = false;
};

struct Row {
  Measurement measured;
  std::optional<Ticks> planned;
};

Status read_options(const RunArguments& arguments, RunOptions& options) {
  const Result<ElementType> type = parse_element_type(arguments.type);
  const Result<ReduceOp> op = parse_reduce_op(arguments.op);
  const Result<Ticks> limit = parse_time(arguments.limit);
  if (!type || !op || !limit) {
    return !type ? type.error() : !op ? op.error() : limit.error();
  }
  options.type = *type;
  options.op = *op;
  constexpr std::int64_t kPsInMs = 1'000'000'000;
  options.limit = std::chrono::milliseconds(limit->ps / kPsInMs);
  return check_reduction(*type, *op);
}

/// A schedule file, and the sizes to run it with; none: its own.
struct Job {
  std::string file;
  std::vector<Bytes> sizes;
};

/// What of a plan is for so many ranks, with the sizes that were asked for, or else those that the
/// plan speaks of.
Result<std::vector<Job>> jobs_of_plan(const std::string& folder,
                                      const std::optional<std::vector<Bytes>>& sizes,
                                      int ranks) {
  const Result<Plan> plan = read_plan(folder);
  if (!plan) {
    return plan.error();
  }
  std::vector<Job> jobs;
  bool fits = false;
  for (const PlanEntry& entry : plan->entries) {
    const auto participants = static_cast<int>(entry.participants.size());
    if (participants != ranks && static_cast<int>(plan->npus) != ranks) {
      continue;
    }
    fits = true;
    Job job{.file = (std::filesystem::path(folder) / entry.file).string(), .sizes = {}};
    if (sizes) {
      std::copy_if(sizes->begin(), sizes->end(), std::back_inserter(job.sizes), [&](Bytes size) {
        return entry.least <= size && size <= entry.most;
      });
    } else {
      for (const PlanPoint& point : entry.points) {
        job.sizes.push_back(point.size);
      }
    }
    if (!job.sizes.empty()) {
      jobs.push_back(std::move(job));
    }
  }
  if (jobs.empty()) {
    return input_error(
        fits ? fmt::format("is a plan for {} to {}, and no size of --sizes is among them",
                           format_size(plan->least),
                           format_size(plan->most))
             : fmt::format("is a plan for {} NPUs, and there are {} ranks", plan->npus, ranks),
        folder);
  }
  return jobs;
}

Result<std::vector<Job>> jobs_of(const RunArguments& arguments, int ranks) {
  std::optional<std::vector<Bytes>> sizes;
  if (arguments.sizes) {
    Result<std::vector<Bytes>> parsed = parse_sizes(*arguments.sizes);
    if (!parsed) {
      return parsed.error();
    }
    sizes = *std::move(parsed);
  }
  if (std::filesystem::is_directory(arguments.file)) {
    return jobs_of_plan(arguments.file, sizes, ranks);
  }
  return std::vector<Job>{{.file = arguments.file, .sizes = sizes.value_or(std::vector<Bytes>())}};
}

/// What the schedule takes for another size, as a machine would run it; for fewer bytes than there
/// are chunks, what it takes for a byte each.
Result<std::optional<Ticks>> planned_time(const Bundle& bundle, Bytes size) {
  if (size == bundle.collective.size()) {
    return std::optional(bundle.schedule.collective_time());
  }
  if (bundle.collective.kind() == CollectiveKind::kCustom) {
    return std::optional<Ticks>();
  }
  const Result<Collective> other =
      resized(bundle.collective,
              {std::max<std::int64_t>(size.count, bundle.collective.num_chunks())},
              "--sizes");
  if (!other) {
    return other.error();
  }
  const ChunkTable& chunks = other->chunks();
  if (Status fits = check_times(bundle.topology, chunks.max_bytes(), chunks.size()); !fits) {
    return fits.error();
  }
  const Result<Simulation> simulated =
      simulate(bundle.topology,
               bundle.collective,
               bundle.schedule,
               {.link_model = bundle.link_model, .collective = &*other, .critical_path = false});
  if (!simulated) {
    return simulated.error();
  }
  return std::optional(simulated->time);
}

double algbw(const RunArguments& arguments, const Measurement& made) {
  const std::size_t bytes = element_bytes(arguments.options.type);
  return made.seconds == 0 ? 0 : static_cast<double>(made.elements * bytes) * 1e-9 / made.seconds;
}
std::optional<double> ratio(const Measurement& made) {
  return made.library_seconds && made.seconds > 0
             ? std::optional(*made.library_seconds / made.seconds)
             : std::nullopt;
}

Json row_json(const RunArguments& arguments, const Bundle& bundle, int ranks, const Row& row) {
  const Measurement& made = row.measured;
  const auto or_null = [](std::optional<double> value) { return value ? Json(*value) : Json(); };
  constexpr double kMicro = 1e6;
  Json json{{"ranks", ranks},
            {"topology", bundle.topology.name()},
            {"collective", to_string(bundle.collective.kind())},
            {"size_bytes", made.size.count},
            {"elements", made.elements},
            {"type", to_string(arguments.options.type)},
            {"op", to_string(arguments.options.op)},
            {"iterations", arguments.options.iterations},
            {"transport", arguments.options.transport},
            {"time_us", made.seconds * kMicro},
            {"algbw_GBps", algbw(arguments, made)},
            {"busbw_GBps", algbw(arguments, made) * bundle.collective.bus_factor()}};
  json["planned_time_us"] = row.planned ? Json(to_us(*row.planned)) : Json();
  json["library_time_us"] =
      or_null(made.library_seconds ? std::optional(*made.library_seconds * kMicro) : std::nullopt);
  json["ratio"] = or_null(ratio(made));
  json["wrong"] = made.wrong;
  json["checked"] = made.checked;
  return json;
}

void print_head(const RunArguments& arguments, const Bundle& bundle, int ranks) {
  emit(stdout,
       "{} on {} by {} ranks, {} {} over {}, the least of {} iterations\n\n",
       collective_text(bundle.collective),
       printable(bundle.topology.name()),
       ranks,
       to_string(arguments.options.type),
       to_string(arguments.options.op),
       arguments.options.transport,
       arguments.options.iterations);
  emit(stdout,
       "  {:>10} {:>12} {:>12} {:>12} {:>12} {:>8} {:>12} {:>10} {:>8}\n",
       "size",
       "time, us",
       "algbw, GB/s",
       "busbw, GB/s",
       "library, us",
       "ratio",
       "planned, us",
       "of plan",
       "wrong");
}

void print_rows(const RunArguments& arguments, const Bundle& bundle, const std::vector<Row>& rows) {
  const auto number = [](std::optional<double> value, int digits) {
    return value ? fmt::format("{:.{}f}", *value, digits) : std::string("-");
  };
  constexpr double kMicro = 1e6;
  for (const Row& row : rows) {
    const Measurement& made = row.measured;
    const std::optional<double> planned =
        row.planned ? std::optional(to_us(*row.planned)) : std::nullopt;
    emit(stdout,
         "  {:>10} {:>12.1f} {:>12.3f} {:>12.3f} {:>12} {:>8} {:>12} {:>10} {:>8}\n",
         format_size(made.size),
         made.seconds * kMicro,
         algbw(arguments, made),
         algbw(arguments, made) * bundle.collective.bus_factor(),
         number(made.library_seconds ? std::optional(*made.library_seconds * kMicro) : std::nullopt,
                1),
         number(ratio(made), 2),
         number(planned, 1),
         number(planned && *planned > 0 ? std::optional(made.seconds * kMicro / *planned)
                                        : std::nullopt,
                2),
         made.checked ? format_count(made.wrong) : "-");
  }
}

/// The leader looks whether the schedule, and the program that is made of it, do what they should.
ExitCode check_by_leader(const std::string& file, const Bundle& bundle, Team& team) {
  ExitCode code = ExitCode::kGood;
  if (team.leads()) {
    code = check_schedule(file, bundle, 1);
  }
  return static_cast<ExitCode>(broadcast(team, 0, static_cast<int>(code)));
}

Result<std::vector<Row>> measure_all(const RunArguments& arguments,
                                     const Job& job,
                                     const Bundle& bundle,
                                     Ranks& ranks) {
  Team& team = ranks.team();
  Result<RankRun> run = RankRun::load(bundle, ranks, arguments.options);
  if (!run) {
    Error error = std::move(run).error();
    error.where = error.where.empty() ? job.file : error.where;
    return error;
  }
  std::vector<Row> rows;
  const std::vector<Bytes> own{bundle.collective.size()};
  for (const Bytes size : job.sizes.empty() ? own : job.sizes) {
    const Result<std::optional<Ticks>> planned =
        team.leads() ? planned_time(bundle, size) : Result(std::optional<Ticks>());
    if (Status agreed = agree(team, planned); !agreed) {
      return agreed.error();
    }
    Result<Measurement> made = run->measure(size);
    if (!made) {
      return made.error();
    }
    rows.push_back({.measured = *made, .planned = *planned});
  }
  return rows;
}

/// What one file said, for those that follow.
struct Told {
  Json rows = Json::array();
  /// The collective whose table is being printed.
  std::string collective;
  bool right = true;
};

ExitCode run_job(const RunArguments& arguments, const Job& job, Ranks& ranks, Told& told) {
  Team& team = ranks.team();
  const Result<Bundle> bundle = read_bundle(job.file);
  if (const Status agreed = agree(team, bundle); !agreed) {
    return fail(agreed.error());
  }
  if (const ExitCode code = check_by_leader(job.file, *bundle, team); code != ExitCode::kGood) {
    return code;
  }
  const Result<std::vector<Row>> rows = measure_all(arguments, job, *bundle, ranks);
  if (!rows) {
    return fail(rows.error());
  }
  for (const Row& row : *rows) {
    told.right = told.right && row.measured.wrong == 0;
    told.rows.push_back(row_json(arguments, *bundle, team.size(), row));
  }
  if (!arguments.json) {
    const std::string name = collective_text(bundle->collective);
    if (name != told.collective) {
      emit(stdout, "{}", told.collective.empty() ? "" : "\n");
      print_head(arguments, *bundle, team.size());
      told.collective = name;
    }
    print_rows(arguments, *bundle, *rows);
  }
  return ExitCode::kGood;
}

ExitCode run_run(RunArguments& arguments, Ranks& ranks) {
  Team& team = ranks.team();
  if (const Status read = read_options(arguments, arguments.options); !read) {
    return fail(read.error());
  }
  const Result<std::vector<Job>> jobs = jobs_of(arguments, team.size());
  if (const Status agreed = agree(team, jobs); !agreed) {
    return fail(agreed.error());
  }
  Told told;
  for (const Job& job : *jobs) {
    if (const ExitCode code = run_job(arguments, job, ranks, told); code != ExitCode::kGood) {
      return code;
    }
  }
  if (arguments.json) {
    print_object({{"rows", told.rows}});
  }
  if (!told.right) {
    complain(arguments.file + ": results differ from the library's");
    return ExitCode::kVerificationFailed;
  }
  return ExitCode::kGood;
}

template <class Values>
std::vector<std::string_view> names_of(const Values& values) {
  std::vector<std::string_view> names;
  for (const auto value : values) {
    names.push_back(to_string(value));
  }
  return names;
}

}  // namespace

void add_run_command(CLI::App& app, ExitCode& code, Ranks* ranks) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command =
      app.add_subcommand("run", "Run a schedule file on these ranks, beside the MPI library");
  require_value(command
                    ->add_option("FILE",
                                 arguments->file,
                                 "a schedule written by synth -o, or the folder of a plan")
                    ->required());
  command->add_option(
      "--sizes", arguments->sizes, "a range of buffers by powers of four [that of the file]");
  static const std::vector<std::string_view> types = names_of(element_types());
  static const std::vector<std::string_view> ops = names_of(reduce_ops());
  add_choice(*command, "--type", arguments->type, types, "type", "of the elements [float32]")
      ->type_name("T");
  add_choice(*command, "--op", arguments->op, ops, "operation", "of sums [sum]");
  constexpr std::uint64_t kMostIterations = 1'000'000;
  add_number(*command,
             "--iterations",
             {1, kMostIterations},
             "how often; the least time counts",
             [raw = arguments.get()](std::uint64_t number) {
               raw->options.iterations = static_cast<int>(number);
             })
      ->default_str(fmt::format("{}", arguments->options.iterations));
  add_switch(*command, "--check", arguments->options.check, "compare with the library's results");
  add_switch(*command,
             "--credits",
             arguments->options.credits,
             "receivers keep the order of senders that share a port");
  require_value(command->add_option(
      "--map", arguments->options.map, "hosts, or a file with the NPU of every rank [in order]"));
  add_transport_option(*command, arguments->options.transport);
  require_value(command->add_option(
      "--limit", arguments->limit, "so long without a message, and the run has failed [30s]"));
  add_switch(*command, "--json", arguments->json, "print one JSON object");
  command->callback([arguments, &code, ranks] { code = run_run(*arguments, *ranks); });
}

}  // namespace tacos::cli
