// SPDX-License-Identifier: MIT
#include "cli/comparison.h"

#include <algorithm>

#include <fmt/format.h>

#include "tacos/simulate.h"
#include "tacos/synthesize.h"
#include "tacos/verify.h"

#include "base/parallel/threads.h"
#include "cli/report.h"
#include "schedule/read_ahead.h"

namespace tacos::cli {
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
  if (bundle.topology.npus_forward()) {
    const Result<bool> forwarded = passes_npus(bundle);
    if (!forwarded) {
      return forwarded.error();
    }
    entry.forwarded = *forwarded;
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
  Result<BoundReport> bound = compute_bounds(ours.topology, ours.collective, bound_options(ours));
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
      if (const Status possible = check_bound(*entry.outcome); !possible) {
        return possible.error();
      }
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
  Result<Outcome> outcome = outcome_of(topology, std::move(made), options, watch.seconds());
  if (!outcome) {
    return outcome.error();
  }
  entry.outcome = *std::move(outcome);
  return examine(entry);
}

}  // namespace tacos::cli
