// SPDX-License-Identifier: MIT
#include "synthesis/matching/gather.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "base/rng.h"
#include "synthesis/matching/gather_bound.h"
#include "synthesis/matching/uniform_matcher.h"
#include "synthesis/matching/window_matcher.h"

namespace tacos {
namespace {

std::optional<Gathered> try_gather(const GatherJob& job,
                                   const GatherNetwork& network,
                                   std::uint64_t seed,
                                   ThreadPool& pool) {
  const GatherTask task{.owners = job.owners, .chunks_per_owner = job.chunks_per_owner()};
  const ArrivalClock clock(job.topology, job.collective.chunks(), job.options.link_model);
  ScheduleBuilder builder(job.topology.num_links());
  DeliveryBuffer out(builder, clock, Op::kCopy);
  const bool small = job.deliveries() <= kSmallGather;
  if (!small && network.uniform()) {
    match_in_steps(network, task, {.seed = seed, .progress = job.options.progress}, pool, out);
  } else {
    const MatchOptions options{.choice = small ? Choice::kRarestFirst : Choice::kOldestFirst,
                               .seed = seed,
                               .progress = job.options.progress};
    if (!match_in_windows(network, task, options, pool, out)) {
      return std::nullopt;
    }
  }
  return Gathered{.schedule = std::move(builder).build(), .planned_end = out.planned_end()};
}

}  // namespace

std::int64_t GatherJob::trials() const {
  // About this many deliveries in all, whatever the size.
  constexpr std::uint64_t kWork = std::uint64_t{1} << 17U;
  constexpr std::int64_t kMostTrials = 16;
  return options.trials.value_or(
      std::clamp(static_cast<std::int64_t>(kWork / deliveries()), std::int64_t{1}, kMostTrials));
}

Result<Gathered> gather(const GatherJob& job) {
  const GatherNetwork network(
      job.topology, job.direction, job.collective.chunks().max_bytes(), job.options.link_model);
  const GridTime bound = gather_bound(network, job.collective.num_chunks(), job.owners);
  const std::int64_t trials = job.trials();
  std::vector<std::optional<Gathered>> results(static_cast<std::size_t>(trials));
  // No trial after the first that meets the bound can be better.
  std::atomic<std::size_t> first_optimal = results.size();
  // One trial at a time may use all threads; of several, each has one.
  ThreadPool across(trials > 1 ? job.options.threads : 1);
  across.for_ranges(results.size(), 1, [&](std::size_t from, std::size_t to) {
    ThreadPool within(trials > 1 ? 1 : job.options.threads);
    for (std::size_t trial = from; trial < to && trial <= first_optimal; ++trial) {
      results[trial] = try_gather(job, network, mix64(job.options.seed, trial), within);
      if (results[trial] && results[trial]->planned_end <= network.time(bound)) {
        std::size_t seen = first_optimal;
        while (trial < seen && !first_optimal.compare_exchange_weak(seen, trial)) {
        }
      }
    }
  });
  std::optional<Gathered>* best = nullptr;
  for (std::optional<Gathered>& result : results) {
    if (result && (best == nullptr || result->planned_end < (*best)->planned_end)) {
      best = &result;
    }
  }
  if (best == nullptr) {
    return input_error(
        "the collective would take longer than 53 days; use a smaller size or leave slow links out",
        job.topology.name());
  }
  return std::move(**best);
}

}  // namespace tacos
