// SPDX-License-Identifier: MIT
// All-Gather by matching; Reduce-Scatter as an All-Gather against the links, run backwards;
// All-Reduce as one after the other. Searches chunk counts, which pays more than seeds
// (THEORY 3.3), and stops early when nothing is left to gain.
#include "synthesis/matching/matching.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/assert.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "synthesis/matching/gather_bound.h"
#include "synthesis/matching/gather_network.h"
#include "synthesis/matching/uniform_matcher.h"
#include "synthesis/matching/window_matcher.h"
#include "synthesis/time_reversal.h"

namespace tacos {
namespace {

/// Up to this many deliveries the rarest-first choice is affordable.
constexpr std::uint64_t kSmall = std::uint64_t{1} << 18U;
/// Chunk counts and trials are chosen so that about this many deliveries are made in all.
constexpr std::uint64_t kTrialWork = std::uint64_t{1} << 17U;
constexpr std::int64_t kMaxTrials = 16;

/// An All-Gather, with the links or against them.
struct Gathered {
  Schedule schedule;
  Ticks planned_end;
};

/// One All-Gather to synthesize, and how.
struct GatherJob {
  const Topology& topology;
  const Collective& collective;
  const SynthesisOptions& options;
  Direction direction = Direction::kWithLinks;

  [[nodiscard]] std::uint64_t deliveries() const {
    return std::uint64_t{topology.num_npus()} * collective.num_chunks();
  }
  [[nodiscard]] std::uint32_t chunks_per_owner() const {
    return collective.num_chunks() / collective.num_participants();
  }
};

std::optional<Gathered> try_gather(const GatherJob& job,
                                   const GatherNetwork& network,
                                   std::uint64_t seed,
                                   ThreadPool& pool) {
  const GatherTask task{.owners = job.collective.participants(),
                        .chunks_per_owner = job.chunks_per_owner()};
  const ArrivalClock clock(job.topology, job.collective.chunks(), job.options.link_model);
  ScheduleBuilder builder(job.topology.num_links());
  DeliveryBuffer out(builder, clock, Op::kCopy);
  const bool small = job.deliveries() <= kSmall;
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

std::int64_t default_trials(const GatherJob& job) {
  return std::clamp(
      static_cast<std::int64_t>(kTrialWork / job.deliveries()), std::int64_t{1}, kMaxTrials);
}

/// The best of several trials; among equals the one with the lowest number, on any thread count.
Result<Gathered> gather(const GatherJob& job) {
  const GatherNetwork network(
      job.topology, job.direction, job.collective.chunks().max_bytes(), job.options.link_model);
  const GridTime bound = gather_bound(network, job.collective.num_chunks(), job.chunks_per_owner());
  const std::int64_t trials = job.options.trials.value_or(default_trials(job));
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

/// The schedule of one collective with its chunk count decided.
Result<Candidate> synthesize_chunked(const Topology& topology,
                                     const Collective& collective,
                                     const SynthesisOptions& options) {
  const ArrivalClock clock(topology, collective.chunks(), options.link_model);
  GatherJob job{.topology = topology, .collective = collective, .options = options};
  const std::int64_t trials = options.trials.value_or(default_trials(job));
  if (collective.kind() == CollectiveKind::kAllGather) {
    Result<Gathered> gathered = gather(job);
    if (!gathered) {
      return gathered.error();
    }
    return Candidate{collective, gathered->schedule, trials};
  }
  job.direction = Direction::kAgainstLinks;
  const Result<Gathered> scattered = gather(job);
  if (!scattered) {
    return scattered.error();
  }
  ScheduleBuilder builder(topology.num_links());
  append_reversed(scattered->schedule, scattered->planned_end, clock, builder);
  if (collective.kind() == CollectiveKind::kAllReduce) {
    job.direction = Direction::kWithLinks;
    const Result<Gathered> gathered = gather(job);
    if (!gathered) {
      return gathered.error();
    }
    append_delayed(gathered->schedule, clock, scattered->planned_end, builder);
  }
  return Candidate{collective, std::move(builder).build(), trials};
}

/// Chunks per participant, as the collective counts them.
Result<Collective> cut(const Problem& problem, std::int64_t per_participant) {
  const auto participants = static_cast<std::int64_t>(problem.participants.size());
  const bool over_buffer = problem.kind == CollectiveKind::kAllReduce;
  return Collective::make(problem.kind,
                          problem.size,
                          over_buffer ? per_participant * participants : per_participant,
                          problem.participants);
}

/// Chunks per participant to try when the user gave none: powers of two while they are cheap.
std::vector<std::int64_t> chunk_counts(const Topology& topology, const Problem& problem) {
  const std::uint64_t deliveries = std::uint64_t{topology.num_npus()} * problem.participants.size();
  const auto participants = static_cast<std::int64_t>(problem.participants.size());
  constexpr std::int64_t kMostChunks = 64;
  std::vector<std::int64_t> counts{1};
  for (std::int64_t count = 2; count <= kMostChunks; count *= 2) {
    const bool cheap = deliveries * static_cast<std::uint64_t>(count) <= kTrialWork;
    if (!cheap || problem.size.count / participants < count) {
      break;
    }
    counts.push_back(count);
  }
  return counts;
}

bool knows(CollectiveKind kind) {
  return kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter ||
         kind == CollectiveKind::kAllReduce;
}

}  // namespace

bool matching_handles(const Topology& topology, const Problem& problem) {
  return knows(problem.kind) && topology.num_switches() == 0;
}

Result<Candidate> synthesize_matching(const Topology& topology,
                                      const Problem& problem,
                                      const SynthesisOptions& options) {
  if (!knows(problem.kind)) {
    return input_error(fmt::format(
        "synthesis of {} is not supported yet; all-gather, reduce-scatter and all-reduce are",
        to_string(problem.kind)));
  }
  if (topology.num_switches() > 0) {
    return input_error(
        "has switches, and synthesis through switches is not supported yet; use direct links",
        topology.name());
  }
  const auto participants = static_cast<std::int64_t>(problem.participants.size());
  std::vector<std::int64_t> counts = chunk_counts(topology, problem);
  if (problem.chunks) {
    const bool over_buffer = problem.kind == CollectiveKind::kAllReduce;
    // Rounded up to a multiple of the participants, since each reduces its share.
    counts = {over_buffer ? (*problem.chunks + participants - 1) / participants : *problem.chunks};
  }
  std::optional<Candidate> best;
  int worse = 0;
  for (const std::int64_t count : counts) {
    const Result<Collective> collective = cut(problem, count);
    if (!collective) {
      return collective.error();
    }
    Result<Candidate> candidate = synthesize_chunked(topology, *collective, options);
    if (!candidate) {
      return candidate;
    }
    if (!best || candidate->schedule.collective_time() < best->schedule.collective_time()) {
      best = std::move(*candidate);
      worse = 0;
    } else if (++worse == 2) {
      break;
    }
  }
  TACOS_ASSERT(best.has_value(), "at least one chunk count was tried");
  return std::move(*best);
}

}  // namespace tacos
