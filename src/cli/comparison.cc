// SPDX-License-Identifier: MIT
#include "cli/comparison.h"

#include <algorithm>

#include <fmt/format.h>

#include "tacos/simulate.h"
#include "tacos/synthesize.h"
#include "tacos/verify.h"

#include "base/parallel/threads.h"
#include "cli/report.h"

namespace tacos::cli {
namespace {

Result<bool> passes_npus(const Bundle& bundle) {
  const auto cursor = bundle.schedule.cursor();
  TransferBatch batch;
  for (;;) {
    if (const Status read = cursor->next(batch); !read) {
      return read.error();
    }
    if (batch.empty()) {
      return false;
    }
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto links = batch[i].links;
      const auto inner = links.first(links.size() - 1);
      if (std::any_of(inner.begin(), inner.end(), [&](LinkId link) {
            return bundle.topology.is_npu(bundle.topology.link(link).dst);
          })) {
        return true;
      }
    }
  }
}

/// Everything is verified, ours or not.
Status examine(Entry& entry) {
  Outcome& outcome = *entry.outcome;
  const Bundle& bundle = outcome.bundle;
  const Stopwatch watch;
  const Result<VerifyReport> report = verify(
      bundle.topology, bundle.collective, bundle.schedule, {.link_model = bundle.link_model});
  if (!report) {
    return report.error();
  }
  outcome.verify_seconds = watch.seconds();
  outcome.verified = report->valid();
  if (!report->valid()) {
    return Error{
        .code = ErrorCode::kInternal,
        .message = fmt::format(
            "the schedule of {} is wrong: {}", entry.algorithm, report->violations.front()),
        .where = bundle.topology.name()};
  }
  const Result<bool> forwarded = passes_npus(bundle);
  const Result<Simulation> simulation =
      simulate(bundle.topology,
               bundle.collective,
               bundle.schedule,
               {.link_model = bundle.link_model, .critical_path = false});
  if (!forwarded || !simulation) {
    return forwarded ? simulation.error() : forwarded.error();
  }
  entry.forwarded = *forwarded;
  entry.utilization = simulation->utilization(bundle.topology);
  return ok();
}

}  // namespace

Result<Round> Comparison::run(Bytes size) const {
  Round round{.size = size, .bound = {}, .entries = {{.algorithm = "tacos"}}};
  for (const std::string_view name : baseline_names()) {
    round.entries.push_back({.algorithm = std::string(name)});
  }
  // Ours first, with all threads: it is the one that matters, and takes longest.
  fill(round.entries.front(), size, options_.threads);
  if (round.entries.front().failure) {
    return *round.entries.front().failure;
  }
  ThreadPool pool(options_.threads);
  pool.for_ranges(round.entries.size() - 1, 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      fill(round.entries[i + 1], size, 1);
    }
  });
  const Bundle& ours = round.entries.front().outcome->bundle;
  Result<BoundReport> bound = compute_bounds(
      ours.topology,
      ours.collective,
      {.effort = effort_beside_schedule(ours.topology), .link_model = ours.link_model});
  if (!bound) {
    return bound.error();
  }
  round.bound = *std::move(bound);
  for (Entry& entry : round.entries) {
    if (entry.failure && entry.failure->code == ErrorCode::kInternal) {
      return *entry.failure;
    }
    if (entry.outcome) {
      entry.outcome->bound = round.bound;
    }
  }
  std::stable_sort(round.entries.begin(), round.entries.end(), [](const auto& a, const auto& b) {
    return a.outcome && (!b.outcome || a.time() < b.time());
  });
  return round;
}

void Comparison::fill(Entry& entry, Bytes size, int threads) const {
  if (const Status filled = try_fill(entry, size, threads); !filled) {
    entry.outcome.reset();
    entry.failure = filled.error();
  }
}

Status Comparison::try_fill(Entry& entry, Bytes size, int threads) const {
  const bool ours = entry.algorithm == "tacos";
  const Topology& topology = ours ? task_.topology : forwarding_;
  const Problem problem{.kind = task_.kind,
                        .size = size,
                        .participants = task_.participants,
                        .root = task_.root,
                        .custom = task_.custom};
  const SynthesisOptions options{.engine = ours ? "auto" : entry.algorithm,
                                 .link_model = options_.link_model,
                                 .seed = options_.seed,
                                 .threads = threads};
  if (!ours && !engine_handles(entry.algorithm, topology, problem)) {
    entry.unrelated = true;
    return input_error(fmt::format("is not for {}", to_string(problem.kind)));
  }
  const Stopwatch watch;
  Result<Synthesis> made = synthesize(topology, problem, options);
  if (!made) {
    return made.error();
  }
  if (made->status == SynthesisStatus::kInfeasible) {
    return infeasible(topology, *made->unreachable);
  }
  entry.outcome = Outcome{.bundle = {.topology = topology,
                                     .collective = std::move(*made->collective),
                                     .link_model = options.link_model,
                                     .schedule = std::move(*made->schedule),
                                     .engine = made->engine,
                                     .seed = options.seed},
                          .trials = made->trials,
                          .compared = {},
                          .threads = threads,
                          .synthesis_seconds = watch.seconds(),
                          .peaks = {}};
  return examine(entry);
}

}  // namespace tacos::cli
