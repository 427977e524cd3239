// SPDX-License-Identifier: MIT
#include "synthesis/matching/direct/gather.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/memory/room.h"
#include "base/numbers/rng.h"
#include "base/parallel/progress.h"
#include "base/parallel/threads.h"
#include "base/text/quantity.h"
#include "synthesis/common/deal.h"
#include "synthesis/common/engine.h"
#include "synthesis/matching/direct/gather_bound.h"
#include "synthesis/matching/direct/halo.h"
#include "synthesis/matching/direct/uniform_matcher.h"
#include "synthesis/matching/direct/window_matcher.h"

namespace tacos::matching {
namespace {

GatherNetwork network_of(const GatherJob& job) {
  return {job.topology, job.direction, job.collective.chunks().max_bytes(), job.options.link_model};
}

/// Whether the result is a log, which a team shares out by NPUs.
bool makes_log(const GatherJob& job, const GatherNetwork& network) {
  return job.deliveries() > kSmallGather && network.uniform();
}

std::optional<GatherResult> try_gather(const GatherJob& job,
                                       const GatherNetwork& network,
                                       std::uint64_t seed,
                                       std::function<void(double)> progress,
                                       ThreadPool& pool) {
  const GatherTask task{.owners = job.owners, .chunks_per_owner = job.chunks_per_owner()};
  const bool small = job.deliveries() <= kSmallGather;
  if (makes_log(job, network)) {
    auto log = match_in_steps(network,
                              task,
                              {.seed = seed,
                               .progress = std::move(progress),
                               .team = job.options.team,
                               .directory = job.options.stream_directory},
                              pool);
    const Ticks end = network.time(log->end_step());
    if (end > kMaxTime) {
      return std::nullopt;
    }
    return GatherResult{.schedule = std::nullopt,
                        .log = std::move(log),
                        .step = network.unit(),
                        .planned_end = end};
  }
  const ArrivalClock clock(job.topology, job.collective.chunks(), job.options.link_model);
  ScheduleBuilder builder(job.topology.num_links());
  DeliveryBuffer out(builder, clock, Op::kCopy);
  const MatchOptions options{.choice = small ? Choice::kRarestFirst : Choice::kOldestFirst,
                             .seed = seed,
                             .progress = std::move(progress)};
  if (!match_in_windows(network, task, options, pool, out)) {
    return std::nullopt;
  }
  return GatherResult{.schedule = std::move(builder).build(),
                      .log = nullptr,
                      .step = {},
                      .planned_end = out.planned_end()};
}

/// The first of the shortest.
class Best {
 public:
  void offer(std::optional<GatherResult> result, std::size_t trial) {
    if (result &&
        (!best_ || std::pair(result->planned_end, trial) < std::pair(best_->planned_end, trial_))) {
      best_ = std::move(result);
      trial_ = trial;
    }
  }
  [[nodiscard]] std::optional<GatherResult>& get() { return best_; }
  [[nodiscard]] std::optional<Bid> bid() const {
    return best_ ? std::optional(Bid{best_->planned_end, trial_}) : std::nullopt;
  }

 private:
  std::optional<GatherResult> best_;
  std::size_t trial_ = 0;
};

/// Trials one after the other, each with all threads, of which two at most are kept.
Best best_in_turn(const GatherJob& job,
                  const GatherNetwork& network,
                  Ticks bound,
                  const Deal& deal) {
  Best best;
  ThreadPool pool(job.options.threads);
  const auto trials = static_cast<std::size_t>(job.trials());
  JointProgress progress(job.options.progress, trials);
  for (std::size_t trial = 0; trial < trials; ++trial) {
    if (!deal.mine(trial)) {
      continue;
    }
    best.offer(try_gather(job, network, mix64(job.options.seed, trial), progress.part(trial), pool),
               trial);
    if (best.get() && best.get()->planned_end <= bound) {
      break;
    }
  }
  return best;
}

/// Trials in parallel, with one thread each.
Best best_at_once(const GatherJob& job,
                  const GatherNetwork& network,
                  Ticks bound,
                  const Deal& deal) {
  const auto trials = static_cast<std::size_t>(job.trials());
  JointProgress progress(job.options.progress, trials);
  Best best;
  std::mutex offering;
  // No trial after the first that meets the bound can be better.
  std::atomic<std::size_t> first_optimal = trials;
  ThreadPool across(job.options.threads);
  across.for_ranges(trials, 1, [&](std::size_t from, std::size_t to) {
    ThreadPool within(1);
    for (std::size_t trial = from; trial < to && trial <= first_optimal; ++trial) {
      if (!deal.mine(trial)) {
        continue;
      }
      std::optional<GatherResult> result =
          try_gather(job, network, mix64(job.options.seed, trial), progress.part(trial), within);
      if (result && result->planned_end <= bound) {
        std::size_t seen = first_optimal;
        while (trial < seen && !first_optimal.compare_exchange_weak(seen, trial)) {
        }
      }
      const std::scoped_lock lock(offering);
      best.offer(std::move(result), trial);
    }
  });
  return best;
}

/// The best of all members, everywhere.
std::optional<GatherResult> shared(const GatherJob& job, const Deal& deal, Best best) {
  const std::optional<Bid> winner = deal.best(best.bid());
  if (!winner || deal.alone()) {
    return std::move(best.get());
  }
  std::optional<Schedule> made;
  if (deal.mine(winner->job)) {
    made = std::move(best.get()->schedule);
  }
  return GatherResult{
      .schedule = deal.to_all(
          deal.owner(winner->job), std::move(made), job.topology, job.collective.num_chunks()),
      .log = nullptr,
      .step = {},
      .planned_end = winner->time};
}

/// What a process needs, what its machine has, and which machine it is on.
struct Need {
  std::uint64_t bytes = 0;
  std::uint64_t disk = 0;
  std::uint64_t free = 0;
  int machine = 0;
};

Need need_of(const GatherJob& job, const GatherNetwork& network, std::uint32_t phases) {
  const Team* team = job.options.team;
  const std::uint64_t chunks = job.collective.num_chunks();
  const std::uint64_t places = job.deliveries();
  // Of several trials the best so far is kept beside the one being made.
  const std::uint64_t kept = phases + (job.trials() > 1 ? 1 : 0);
  std::uint64_t bytes = 0;
  std::uint64_t disk = 0;
  std::uint64_t bits = places / 8;
  if (makes_log(job, network)) {
    const std::uint64_t id = StepLog::narrow(job.collective.num_chunks()) ? 2 : 4;
    std::uint64_t own = places;
    if (team != nullptr) {
      const NpuRange npus = share_of(network.num_npus(), team->member(), team->size());
      own = npus.size() * chunks;
      bytes += count_foreign_sources(network, npus) * chunks * id;
      bits = team->leads() ? places / 8 : own / 8;
    }
    // Entries of the logs, and half a byte for the windows that they came in. Of a log on disk a
    // page for each NPU, where it ends, and one for each link, where it reads, are in use.
    constexpr std::uint64_t kPage = 4096;
    const bool streams = !job.options.stream_directory.empty();
    disk = streams ? kept * own * id : 0;
    bytes += kept *
             (own / 2 + (streams ? (network.num_npus() + network.num_links()) * kPage : own * id));
  } else {
    // Chunk and time in a log, freed when done; each schedule in blocks of up to 8 bytes, and once
    // more when several are put together.
    const bool copied = job.collective.reduces();
    bytes = places * 12 + 8 * places * (kept + (copied ? phases : 0));
  }
  // Who has what, during matching and again during verification, and room for windows and buffers.
  constexpr std::uint64_t kRoom = std::uint64_t{64} << 20U;
  bytes += bits + std::uint64_t{100} * network.num_links() + kRoom;
  const std::optional<std::uint64_t> free =
      job.options.memory_bytes ? job.options.memory_bytes : available_memory();
  return {.bytes = bytes,
          .disk = disk,
          .free = free.value_or(std::numeric_limits<std::uint64_t>::max()),
          .machine = team == nullptr ? 0 : team->machine()};
}

}  // namespace

std::int64_t GatherJob::trials() const {
  // About this many deliveries in all, whatever the size.
  constexpr std::uint64_t kWork = std::uint64_t{1} << 17U;
  constexpr std::int64_t kMostTrials = 16;
  return options.trials.value_or(
      std::clamp(static_cast<std::int64_t>(kWork / deliveries()), std::int64_t{1}, kMostTrials));
}

bool can_share(const GatherJob& job) {
  return job.deliveries() <= kSmallGather || job.trials() > 1 || network_of(job).uniform();
}

Status check_memory(const GatherJob& job, std::uint32_t phases) {
  if (job.deliveries() <= kSmallGather) {
    return ok();
  }
  const Need mine = need_of(job, network_of(job), phases);
  Team* team = job.options.team;
  const std::vector<Need> all = team == nullptr ? std::vector{mine} : all_gather(*team, mine);
  for (const Need& here : all) {
    std::uint64_t needed = 0;
    for (const Need& other : all) {
      needed += other.machine == here.machine ? other.bytes : 0;
    }
    if (needed > here.free) {
      const bool could_stream = mine.disk == 0 && makes_log(job, network_of(job));
      return not_enough_memory(needed,
                               here.free,
                               could_stream ? "fewer chunks, a smaller network, --stream DIR to "
                                              "keep it on disk, or more memory"
                                            : "fewer chunks, a smaller network, or more memory",
                               job.topology.name());
    }
  }
  return mine.disk == 0 ? ok() : check_disk_room(job.options.stream_directory, mine.disk);
}

Result<GatherResult> gather(const GatherJob& job) {
  const GatherNetwork network = network_of(job);
  const GridTime least = gather_bound(network, job.collective.num_chunks(), job.owners);
  if (least >= network.end_of_time()) {
    return takes_too_long(job.topology.name());
  }
  const Ticks bound = network.time(least);
  const bool in_turn = job.trials() == 1 || job.deliveries() > kSmallGather;
  // All members take part in every trial whose NPUs they share out.
  const Deal deal(makes_log(job, network) ? nullptr : job.options.team);
  std::optional<GatherResult> best = shared(
      job,
      deal,
      in_turn ? best_in_turn(job, network, bound, deal) : best_at_once(job, network, bound, deal));
  if (!best) {
    return takes_too_long(job.topology.name());
  }
  return *std::move(best);
}

}  // namespace tacos::matching
