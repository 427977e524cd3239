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
#include "base/numbers/wide.h"
#include "base/parallel/progress.h"
#include "base/parallel/threads.h"
#include "base/text/quantity.h"
#include "synthesis/common/deal.h"
#include "synthesis/common/engine.h"
#include "synthesis/common/work.h"
#include "synthesis/matching/direct/gather_bound.h"
#include "synthesis/matching/direct/halo.h"
#include "synthesis/matching/direct/log_matcher.h"
#include "synthesis/matching/direct/rarest_matcher.h"

namespace tacos::matching {
namespace {

GatherNetwork network_of(const GatherJob& job) {
  return {job.topology, job.direction, job.collective.chunks().max_bytes(), job.options.link_model};
}

/// Too large for anything but logs, whose NPUs a team shares out.
bool is_large(const GatherJob& job) {
  return job.deliveries() > kSmallGather;
}

GatherTask task_of(const GatherJob& job) {
  return {.owners = job.owners, .chunks_per_owner = job.chunks_per_owner()};
}

/// Quick, and on most networks as good as any.
std::optional<GatherResult> oldest_first(const GatherJob& job,
                                         const GatherNetwork& network,
                                         std::size_t trial,
                                         JointProgress& progress,
                                         ThreadPool& pool) {
  LogOptions options{.seed = mix64(job.options.seed, trial), .progress = progress.part(trial)};
  if (is_large(job)) {
    options.team = job.options.team;
    options.directory = job.options.stream_directory;
  } else {
    options.care = Care::kWhereTimeIsShort;
  }
  SharedLog log = match_oldest_first(network, task_of(job), options, pool);
  if (log == nullptr) {
    return std::nullopt;
  }
  const Ticks end = network.time(log->end());
  return GatherResult{
      .schedule = std::nullopt, .log = std::move(log), .unit = network.unit(), .planned_end = end};
}

std::optional<GatherResult> rarest_first(const GatherJob& job,
                                         const GatherNetwork& network,
                                         std::size_t trial,
                                         JointProgress& progress) {
  const ArrivalClock clock(job.topology, job.collective.chunks(), job.options.link_model);
  ScheduleBuilder builder(job.topology.num_links());
  DeliveryBuffer out(builder, clock, Op::kCopy);
  const RarestOptions options{.seed = mix64(job.options.seed, trial),
                              .progress = progress.part(trial)};
  if (!match_rarest_first(network, task_of(job), options, out)) {
    return std::nullopt;
  }
  return GatherResult{.schedule = std::move(builder).build(),
                      .log = nullptr,
                      .unit = {},
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
  [[nodiscard]] bool meets(Ticks bound) const { return best_ && best_->planned_end <= bound; }
  [[nodiscard]] std::optional<GatherResult>& get() { return best_; }
  [[nodiscard]] std::optional<Bid> bid() const {
    return best_ ? std::optional(Bid{best_->planned_end, trial_}) : std::nullopt;
  }

 private:
  std::optional<GatherResult> best_;
  std::size_t trial_ = 0;
};

/// Trials one after the other, each with all threads, of which two at most are kept.
void best_in_turn(const GatherJob& job,
                  const GatherNetwork& network,
                  Ticks bound,
                  JointProgress& progress,
                  Best& best) {
  ThreadPool pool(job.options.threads);
  for (std::size_t trial = 0; trial < job.trials() && !best.meets(bound); ++trial) {
    best.offer(oldest_first(job, network, trial, progress, pool), trial);
  }
}

/// Trials in parallel, with one thread each; all but a quick one.
void best_at_once(const GatherJob& job,
                  const GatherNetwork& network,
                  Ticks bound,
                  const Deal& deal,
                  JointProgress& progress,
                  Best& best) {
  const std::size_t first = job.quick_first() ? 1 : 0;
  std::mutex offering;
  // No trial after the first that meets the bound can be better.
  std::atomic<std::size_t> first_optimal = job.trials();
  ThreadPool across(job.options.threads);
  across.for_ranges(job.trials() - first, 1, [&](std::size_t from, std::size_t to) {
    for (std::size_t trial = first + from; trial < first + to && trial <= first_optimal; ++trial) {
      if (!deal.mine(trial)) {
        continue;
      }
      std::optional<GatherResult> result = rarest_first(job, network, trial, progress);
      if (result && result->planned_end <= bound) {
        std::size_t seen = first_optimal;
        while (trial < seen && !first_optimal.compare_exchange_weak(seen, trial)) {
        }
      }
      const std::scoped_lock lock(offering);
      best.offer(std::move(result), trial);
    }
  });
}

/// The best of all members, everywhere. What everybody has made is not sent.
void share(const GatherJob& job, const Deal& deal, Best& best) {
  const std::optional<Bid> winner = deal.best(best.bid());
  if (!winner || deal.alone() || (winner->job == 0 && job.quick_first())) {
    return;
  }
  std::optional<Schedule> made;
  if (deal.mine(winner->job)) {
    made = std::move(best.get()->schedule);
  }
  best.get() = GatherResult{
      .schedule = deal.to_all(
          deal.owner(winner->job), std::move(made), job.topology, job.collective.num_chunks()),
      .log = nullptr,
      .unit = {},
      .planned_end = winner->time};
}

/// What a process needs, what its machine has, and which machine it is on.
struct Need {
  std::uint64_t bytes = 0;
  std::uint64_t disk = 0;
  std::uint64_t free = 0;
  int machine = 0;
};

/// For putting the transfers of unequal links into start order: 20 bytes for each that is not yet
/// known to be in order, which are those of a window and of twice the longest delay.
std::uint64_t reading_bytes(const GatherNetwork& network, std::uint64_t places) {
  if (network.uniform()) {
    return 0;
  }
  UInt128 under_way = UInt128{1} << 22U;
  for (const InLink& link : network.in_links()) {
    under_way += 2 * network.max_delay() / link.period;
  }
  return 20 * static_cast<std::uint64_t>(std::min<UInt128>(places, under_way));
}

Need need_of(const GatherJob& job, const GatherNetwork& network, std::uint32_t phases) {
  const Team* team = job.options.team;
  const std::uint64_t chunks = job.collective.num_chunks();
  const std::uint64_t places = job.deliveries();
  // Of several trials the best so far is kept beside the one being made.
  const std::uint64_t kept = phases + (job.trials() > 1 ? 1 : 0);
  const std::uint64_t id = WindowLog::narrow(job.collective.num_chunks()) ? 2 : 4;
  std::uint64_t bytes = reading_bytes(network, places);
  std::uint64_t bits = places / 8;
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
  const std::uint64_t disk = streams ? kept * own * id : 0;
  bytes +=
      kept * (own / 2 + (streams ? (network.num_npus() + network.num_links()) * kPage : own * id));
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

bool GatherJob::quick_first() const {
  return options.trials == 1 || options.effort == kLeastEffort ||
         !traits(collective.kind()).has_two_phases();
}

std::size_t GatherJob::trials() const {
  if (options.trials) {
    return static_cast<std::size_t>(*options.trials);
  }
  if (is_large(*this) || options.effort == kLeastEffort) {
    return 1;
  }
  // About this many deliveries in all, whatever the size.
  constexpr std::int64_t kWork = std::int64_t{1} << 17U;
  constexpr std::uint64_t kMostTrials = 16;
  const auto work = static_cast<std::uint64_t>(at_effort(kWork, options.effort));
  return (quick_first() ? 1 : 0) + std::clamp<std::uint64_t>(work / deliveries(), 1, kMostTrials);
}

Status check_memory(const GatherJob& job, std::uint32_t phases) {
  if (!is_large(job)) {
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
      return not_enough_memory(needed,
                               here.free,
                               mine.disk == 0 ? "fewer chunks, a smaller network, --stream DIR to "
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
  JointProgress progress(job.options.progress, job.trials());
  Best best;
  if (is_large(job)) {
    best_in_turn(job, network, bound, progress, best);
  } else if (job.quick_first()) {
    ThreadPool pool(1);
    best.offer(oldest_first(job, network, 0, progress, pool), 0);
  }
  // All members have made the same so far.
  if (!is_large(job) && !best.meets(bound)) {
    const Deal deal(job.options.team);
    best_at_once(job, network, bound, deal, progress, best);
    share(job, deal, best);
  }
  if (!best.get()) {
    return takes_too_long(job.topology.name());
  }
  return *std::move(best.get());
}

}  // namespace tacos::matching
