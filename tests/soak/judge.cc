// SPDX-License-Identifier: MIT
#include "soak/judge.h"

#include <array>
#include <exception>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "tacos/bound.h"
#include "tacos/bundle.h"
#include "tacos/synthesize.h"
#include "tacos/verify.h"

#include "support/listed_schedule.h"
#include "support/reference_verify.h"

namespace tacos::soak {
namespace {

constexpr std::array<std::string_view, 11> kChecks{
    "input",      // what was made up can be loaded
    "failure",    // no exception; `auto` fails only where the buffer cannot be cut
    "feasible",   // there is a schedule exactly where there is a bound
    "verify",     // the referee accepts it
    "reference",  // and so does the naive one
    "bound",      // no schedule is faster than proven, and certificates hold
    "rooted",     // an All-Reduce takes as long as every Broadcast and Reduce that it contains
    "file",       // it comes back from its file
    "threads",    // it does not depend on the number of threads
    "auto",       // `auto` is not slower than an engine, nor what it left out faster than it said
    "models",     // `pipelined` is not slower than `hold`, whose schedules are all its own
};

/// Thrown to leave a case at its first broken promise.
struct Broken {
  Finding finding;
};

/// The naive referee compares all pairs of transfers, for every participant.
constexpr std::uint64_t kMostMovesJudged = 1'500;
constexpr std::uint64_t kMostValuesJudged = 100'000;

class Judge {
 public:
  Judge(const Case& given, const JudgeOptions& options, Tally& tally, Task task)
      : given_(given), options_(options), tally_(tally), task_(std::move(task)) {}

  void run() {
    const std::optional<Synthesis> best = synthesized("auto", given_.link_model, 1);
    if (!best) {
      return;
    }
    check_rooted();
    const std::optional<Synthesis> threaded = synthesized("auto", given_.link_model, 2);
    require(threaded && threaded->schedule->totals() == best->schedule->totals(),
            "threads",
            [&] { return "one and two threads give different schedules"; },
            {options("auto", given_.link_model, 1), options("auto", given_.link_model, 2)});
    for (const std::string_view name : engine_names()) {
      if (name != "auto") {
        compare(*best, std::string(name));
      }
    }
    const bool holds = given_.link_model == LinkModel::kHold;
    const std::optional<Synthesis> other =
        synthesized("auto", holds ? LinkModel::kPipelined : LinkModel::kHold, 1);
    const Synthesis& hold = holds ? *best : *other;
    const Synthesis& pipelined = holds ? *other : *best;
    const auto links = task_.topology.links();
    const bool longer = std::any_of(
        links.begin(), links.end(), [](const Link& link) { return link.gap > link.latency; });
    require(longer || not_slower(pipelined, hold.schedule->collective_time()),
            "models",
            [&] {
              return fmt::format("pipelined takes {} ps, hold {} ps",
                                 pipelined.schedule->collective_time().ps,
                                 hold.schedule->collective_time().ps);
            },
            {options("auto", LinkModel::kPipelined, 1), options("auto", LinkModel::kHold, 1)});
  }

 private:
  static std::string options(const std::string& engine, LinkModel model, int threads) {
    return fmt::format(
        "--engine {} --link-model {} --threads {}", engine, to_string(model), threads);
  }

  /// Leaves the case unless it holds; `more` are the options that show it, by command.
  template <class Say>
  void require(bool holds,
               std::string_view check,
               const Say& say,
               const std::vector<std::string>& more) const {
    if (holds || options_.without.contains(std::string(check))) {
      return;
    }
    Finding finding{.check = std::string(check), .what = say(), .commands = {}};
    for (const std::string& option : more) {
      finding.commands.push_back(command_of(given_, option));
    }
    throw Broken{std::move(finding)};
  }

  [[nodiscard]] Problem problem() const {
    Problem wanted = task_.problem;
    wanted.chunks = given_.chunks;
    return wanted;
  }

  /// The collective in as few chunks as it can have.
  [[nodiscard]] Result<Collective> collective(CollectiveKind kind,
                                              std::optional<NodeId> root) const {
    return task_.problem.custom ? Result(*task_.problem.custom)
                                : Collective::make(kind,
                                                   task_.problem.size,
                                                   given_.chunks.value_or(1),
                                                   task_.problem.participants,
                                                   root);
  }

  /// A schedule that was looked at from all sides; nothing when there is none, and rightly so.
  std::optional<Synthesis> synthesized(const std::string& engine, LinkModel model, int threads) {
    const std::string option = options(engine, model, threads);
    Result<Synthesis> made = [&] {
      try {
        return synthesize(task_.topology,
                          problem(),
                          {.engine = engine,
                           .link_model = model,
                           .seed = given_.seed,
                           .trials = given_.trials,
                           .threads = threads});
      } catch (const std::exception& error) {
        require(false, "failure", [&] { return error.what(); }, {option});
        throw;
      }
    }();
    if (!made) {
      // Over one-way links a sum may have to be made at each destination, which is not done yet.
      const bool too_hard = made.error().message.find("chunk of its own") != std::string::npos;
      const bool excused =
          made.error().code == ErrorCode::kInput &&
          (engine != "auto" || too_hard || !collective(task_.problem.kind, task_.problem.root));
      require(excused, "failure", [&] { return made.error().to_string(); }, {option});
      return std::nullopt;
    }
    const bool feasible = made->status == SynthesisStatus::kFeasible;
    check_feasible(feasible, option);
    if (!feasible) {
      tally_.infeasible += engine == "auto" ? 1 : 0;
      return std::nullopt;
    }
    ++tally_.schedules;
    check_valid(*made, model, option);
    check_bound(*made, model, option);
    check_file(*made, model, option);
    return *std::move(made);
  }

  /// Whether it takes no longer than `other`, or so little longer than the bound that the driver
  /// looks no further.
  [[nodiscard]] bool not_slower(const Synthesis& made, Ticks other) const {
    constexpr std::int64_t kAsGoodAsBound = 100;
    // On larger networks engines, and the other link model, are left out that were rarely seen to
    // win.
    constexpr std::uint32_t kMostTried = 14;
    constexpr double kRarelyMissed = 12.5;
    const double slack = task_.topology.num_npus() <= kMostTried
                             ? options_.slack_percent
                             : std::max(options_.slack_percent, kRarelyMissed);
    const Ticks time = made.schedule->collective_time();
    // Under this model it holds for both.
    const Ticks bound =
        compute_bounds(task_.topology, *made.collective, {.link_model = LinkModel::kPipelined})
            .value()
            .best.time;
    return time <= other || time.ps - bound.ps <= bound.ps / kAsGoodAsBound ||
           static_cast<double>(time.ps - other.ps) * 100 <= slack * static_cast<double>(other.ps);
  }

  void check_feasible(bool feasible, const std::string& option) const {
    const Result<Collective> wanted = collective(task_.problem.kind, task_.problem.root);
    const Result<BoundReport> bound =
        wanted ? compute_bounds(task_.topology, *wanted) : Result<BoundReport>(wanted.error());
    require(bound && (bound->status == BoundStatus::kProven) == feasible,
            "feasible",
            [&] {
              return fmt::format("{} found, but {}",
                                 feasible ? "a schedule is" : "no schedule is",
                                 !bound     ? bound.error().to_string()
                                 : feasible ? "the bound says that there is none"
                                            : "the bound knows of no reason");
            },
            {option});
  }

  void check_valid(const Synthesis& made, LinkModel model, const std::string& option) {
    const Result<VerifyReport> report =
        verify(task_.topology, *made.collective, *made.schedule, {.link_model = model});
    require(report && report->valid(),
            "verify",
            [&] { return report ? report->violations.front() : report.error().to_string(); },
            {option});
    const Schedule::Totals& totals = made.schedule->totals();
    const std::uint64_t values = std::uint64_t{task_.topology.num_npus()} *
                                 made.collective->num_chunks() *
                                 made.collective->num_participants();
    if (totals.moves <= kMostMovesJudged && values <= kMostValuesJudged) {
      ++tally_.judged_by_reference;
      require(test::reference_valid(
                  task_.topology, *made.collective, test::listed(*made.schedule), model),
              "reference",
              [&] { return "the naive referee refuses what the referee accepts"; },
              {option});
    }
  }

  void check_bound(const Synthesis& made, LinkModel model, const std::string& option) const {
    const Result<BoundReport> report =
        compute_bounds(task_.topology, *made.collective, {.link_model = model});
    require(report.has_value(), "bound", [&] { return report.error().to_string(); }, {option});
    const auto at_most = [&](Ticks bound, const std::string& name) {
      const Ticks time = made.schedule->collective_time();
      require(
          bound <= time,
          "bound",
          [&] {
            return fmt::format(
                "the bound '{}' of {} ps is above the schedule's {} ps", name, bound.ps, time.ps);
          },
          {option});
    };
    at_most(report->best.time, report->best.name);
    at_most(report->bandwidth.time, report->bandwidth.name);
    const Schedule::Totals& totals = made.schedule->totals();
    if (report->chunk_count && totals.moves == totals.transfers) {
      at_most(report->chunk_count->time, report->chunk_count->name);
    }
    for (const Bound* bound : {&report->best, &report->bandwidth}) {
      const Result<Ticks> proven =
          check_certificate(task_.topology, *made.collective, bound->certificate);
      require(proven && *proven == bound->time,
              "bound",
              [&] {
                return proven ? fmt::format("the certificate of '{}' proves {} ps, not {} ps",
                                            bound->name,
                                            proven->ps,
                                            bound->time.ps)
                              : proven.error().to_string();
              },
              {option});
    }
  }

  /// An All-Reduce contains a Broadcast and a Reduce from every root.
  void check_rooted() const {
    if (task_.problem.kind != CollectiveKind::kAllReduce) {
      return;
    }
    const auto bound_of = [&](CollectiveKind kind, std::optional<NodeId> root) {
      return compute_bounds(task_.topology, collective(kind, root).value()).value().best.time;
    };
    const Ticks whole = bound_of(CollectiveKind::kAllReduce, std::nullopt);
    for (const CollectiveKind kind : {CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
      for (const NodeId root : task_.problem.participants) {
        const Ticks part = bound_of(kind, root);
        require(part <= whole,
                "rooted",
                [&] {
                  return fmt::format("the bound is {} ps, that of {}:{} is {} ps",
                                     whole.ps,
                                     to_string(kind),
                                     root.value(),
                                     part.ps);
                },
                {options("auto", given_.link_model, 1)});
      }
    }
  }

  void check_file(const Synthesis& made, LinkModel model, const std::string& option) const {
    const Bundle bundle{.topology = task_.topology,
                        .collective = *made.collective,
                        .link_model = model,
                        .schedule = *made.schedule,
                        .engine = made.engine,
                        .seed = given_.seed};
    const std::string path = options_.scratch + "/schedule.tacos";
    const std::vector<std::string> shown{option + " -o schedule.tacos"};
    const Status written = write_bundle(bundle, path);
    require(
        written.has_value(), "file", [&] { return written.error().to_string(); }, shown);
    const Result<Bundle> read = read_bundle(path);
    require(
        read.has_value(), "file", [&] { return read.error().to_string(); }, shown);
    require(
        read->topology == bundle.topology && read->collective == bundle.collective &&
            read->link_model == model && read->schedule.totals() == bundle.schedule.totals(),
        "file",
        [&] { return "what is read is not what was written"; },
        shown);
    const Result<VerifyReport> report =
        verify(read->topology, read->collective, read->schedule, {.link_model = model});
    require(
        report && report->valid(),
        "file",
        [&] { return report ? report->violations.front() : report.error().to_string(); },
        shown);
    std::filesystem::remove(path);
  }

  /// What `auto` chose or left out, beside the engine itself.
  void compare(const Synthesis& best, const std::string& engine) {
    const std::optional<Synthesis> made = synthesized(engine, given_.link_model, 1);
    if (!made) {
      return;
    }
    const std::vector<std::string> shown{options("auto", given_.link_model, 1),
                                         options(engine, given_.link_model, 1)};
    const Ticks time = made->schedule->collective_time();
    require(
        not_slower(best, time),
        "auto",
        [&] {
          return fmt::format("auto takes {} ps, {} takes {} ps",
                             best.schedule->collective_time().ps,
                             engine,
                             time.ps);
        },
        shown);
    for (const Synthesis::Comparison& other : best.compared) {
      require(
          !other.left_out || other.engine != engine || other.collective_time <= time,
          "auto",
          [&] {
            return fmt::format("auto says that {} takes at least {} ps, but it takes {} ps",
                               engine,
                               other.collective_time.ps,
                               time.ps);
          },
          shown);
    }
  }

  const Case& given_;
  const JudgeOptions& options_;
  Tally& tally_;
  Task task_;
};

}  // namespace

std::span<const std::string_view> check_names() {
  return kChecks;
}

std::optional<Finding> judge(const Case& given, const JudgeOptions& options, Tally& tally) {
  ++tally.cases;
  Result<Task> task = cli::load_task(given.task);
  if (!task) {
    return Finding{
        .check = "input", .what = task.error().to_string(), .commands = {command_of(given, "")}};
  }
  try {
    Judge(given, options, tally, *std::move(task)).run();
  } catch (Broken& broken) {
    return std::move(broken.finding);
  } catch (const std::exception& error) {
    return Finding{.check = "failure",
                   .what = error.what(),
                   .commands = {command_of(
                       given, fmt::format("--link-model {}", to_string(given.link_model)))}};
  }
  return std::nullopt;
}

}  // namespace tacos::soak
