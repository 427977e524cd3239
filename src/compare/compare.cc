// SPDX-License-Identifier: MIT
// O(algorithms x the synthesis of one); all but ours are made side by side.
#include "tacos/compare.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "tacos/simulate.h"
#include "tacos/verify.h"

#include "base/parallel/cancel.h"
#include "base/parallel/progress.h"
#include "base/parallel/threads.h"
#include "base/stopwatch.h"
#include "schedule/read_ahead.h"
#include "topology/unreachable.h"

namespace tacos {
namespace {

/// A schedule of more transfers is not simulated: that takes minutes.
constexpr std::uint64_t kMostSimulated = 1'000'000'000;

Result<bool> passes_npus(const Bundle& bundle) {
  bool found = false;
  const Status read = read_batches(bundle.schedule, 1, [&](const TransferBatch& batch) {
    for (std::size_t i = 0; i < batch.size() && !found; ++i) {
      const auto links = batch[i].links;
      const auto inner = links.first(links.size() - 1);
      found = std::any_of(inner.begin(), inner.end(), [&](LinkId link) {
        return bundle.topology.is_npu(bundle.topology.link(link).dst);
      });
    }
    return ok();
  });
  return read ? Result<bool>(found) : read.error();
}

/// Everything is verified, ours or not.
Status examine(ComparedAlgorithm& row) {
  const Bundle& bundle = *row.bundle;
  const Stopwatch watch;
  const Result<VerifyReport> report = verify(
      bundle.topology, bundle.collective, bundle.schedule, {.link_model = bundle.link_model});
  if (!report) {
    return report.error();
  }
  row.verify_seconds = watch.seconds();
  if (!report->valid()) {
    return Error{.code = ErrorCode::kInternal,
                 .message = fmt::format(
                     "the schedule of {} is wrong: {}", row.name, report->violations.front()),
                 .where = bundle.topology.name()};
  }
  if (bundle.topology.npus_forward()) {
    const Result<bool> forwarded = passes_npus(bundle);
    if (!forwarded) {
      return forwarded.error();
    }
    row.forwarded = *forwarded;
  }
  if (bundle.schedule.num_transfers() > kMostSimulated) {
    return ok();
  }
  const Result<Simulation> simulation =
      simulate(bundle.topology,
               bundle.collective,
               bundle.schedule,
               {.link_model = bundle.link_model, .critical_path = false});
  if (!simulation) {
    return simulation.error();
  }
  row.utilization = simulation->utilization(bundle.topology);
  return ok();
}

/// What a bound says to be impossible is a mistake of ours.
Status check_bound(const BoundReport& bound, const ComparedAlgorithm& row) {
  if (bound.best.time <= row.time()) {
    return ok();
  }
  return Error{
      .code = ErrorCode::kInternal,
      .message = fmt::format(
          "the bound of {} ps is above the schedule's {} ps", bound.best.time.ps, row.time().ps),
      .where = row.bundle->topology.name()};
}

class Contest {
 public:
  Contest(const Topology& topology, const Problem& problem, const CompareOptions& options)
      : topology_(topology),
        problem_(problem),
        options_(options),
        forwarding_(topology.with_forwarding(true)) {}

  [[nodiscard]] Result<Comparison> run() const {
    Comparison comparison{.size = problem_.size, .bound = {}, .rows = {{.name = kOurs}}};
    for (const std::string_view name : baseline_names()) {
      comparison.rows.push_back({.name = std::string(name)});
    }
    std::vector<ComparedAlgorithm>& rows = comparison.rows;
    JointProgress progress(options_.progress, rows.size());
    // Ours first, with all threads: it is the one that matters, and takes longest.
    fill(rows.front(), options_.threads, progress.part(0));
    if (rows.front().failure) {
      return *rows.front().failure;
    }
    ThreadPool pool(options_.threads);
    pool.for_ranges(rows.size() - 1, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        fill(rows[i + 1], 1, progress.part(i + 1));
      }
    });
    return judge(std::move(comparison));
  }

 private:
  void fill(ComparedAlgorithm& row, int threads, const std::function<void(double)>& tell) const {
    if (const Status filled = try_fill(row, threads, tell); !filled) {
      row.bundle.reset();
      row.failure = filled.error();
    }
    if (tell) {
      tell(1);
    }
  }

  [[nodiscard]] Status try_fill(ComparedAlgorithm& row,
                                int threads,
                                const std::function<void(double)>& tell) const {
    const bool ours = row.name == kOurs;
    const Topology& topology = ours ? topology_ : forwarding_;
    if (!ours && !engine_handles(row.name, topology, problem_)) {
      row.unrelated = true;
      return input_error(fmt::format("is not for {}", to_string(problem_.kind)));
    }
    const Stopwatch watch;
    Result<Synthesis> made = synthesize(topology,
                                        problem_,
                                        {.engine = ours ? "auto" : row.name,
                                         .link_model = options_.link_model,
                                         .seed = options_.seed,
                                         .effort = options_.effort,
                                         .threads = threads,
                                         .progress = tell});
    if (!made) {
      return made.error();
    }
    if (made->status == SynthesisStatus::kInfeasible) {
      return unreachable_error(topology, *made->unreachable);
    }
    row.synthesis_seconds = watch.seconds();
    row.threads = threads;
    row.trials = made->trials;
    row.compared = std::move(made->compared);
    row.bundle = Bundle{.topology = topology,
                        .collective = *std::move(made->collective),
                        .link_model = options_.link_model,
                        .schedule = *std::move(made->schedule),
                        .engine = made->engine,
                        .seed = options_.seed};
    return examine(row);
  }

  [[nodiscard]] Result<Comparison> judge(Comparison comparison) const {
    const Bundle& ours = *comparison.rows.front().bundle;
    Result<BoundReport> bound = compute_bounds(
        ours.topology,
        ours.collective,
        {.effort = effort_beside_schedule(ours.topology), .link_model = ours.link_model});
    if (!bound) {
      return bound.error();
    }
    comparison.bound = *std::move(bound);
    for (const ComparedAlgorithm& row : comparison.rows) {
      if (row.failure && row.failure->code == ErrorCode::kInternal) {
        return *row.failure;
      }
      if (row.bundle) {
        if (const Status possible = check_bound(comparison.bound, row); !possible) {
          return possible.error();
        }
      }
    }
    std::stable_sort(
        comparison.rows.begin(), comparison.rows.end(), [](const auto& a, const auto& b) {
          return a.bundle && (!b.bundle || a.time() < b.time());
        });
    return comparison;
  }

  const Topology& topology_;
  const Problem& problem_;
  const CompareOptions& options_;
  /// What baselines are made for.
  Topology forwarding_;
};

}  // namespace

const ComparedAlgorithm& Comparison::ours() const {
  return *std::find_if(rows.begin(), rows.end(), [](const auto& row) { return row.name == kOurs; });
}

double Comparison::speedup(const ComparedAlgorithm& row) const {
  const Ticks mine = ours().time();
  return mine.ps == 0 ? 1 : static_cast<double>(row.time().ps) / static_cast<double>(mine.ps);
}

Result<Comparison> compare(const Topology& topology,
                           const Problem& problem,
                           const CompareOptions& options) {
  return cancellable(options.cancel, [&] { return Contest(topology, problem, options).run(); });
}

}  // namespace tacos
