// SPDX-License-Identifier: MIT
// What is broken is routed anew (reroute.h), then the times are: once with the order on every link
// as it was planned, once with links that take what can start first, and the faster is taken.
#include "repair/keep.h"

#include <algorithm>
#include <utility>

#include "replay/message_scheduler.h"
#include "replay/retime.h"
#include "schedule/read_ahead.h"

namespace tacos::repairing {
namespace {

/// Beyond these what is kept takes seconds: 1.2 us for each move, 0.86 s of an All-to-All on 256
/// NPUs with 727,556 moves (bench/keep_bench), and a pass over all NPUs for each chunk that is
/// broken. There a synthesis keeps its chunks in other forms than lists.
constexpr std::uint64_t kMostMoves = std::uint64_t{1} << 22U;
constexpr std::uint64_t kMostPlaces = std::uint64_t{1} << 26U;

std::optional<Reading> reading_of(const Bundle& bundle) {
  const Collective& collective = bundle.collective;
  if (!collective.reduces()) {
    return Reading::kForwards;
  }
  const bool one_phase = collective.kind() == CollectiveKind::kReduceScatter ||
                         collective.kind() == CollectiveKind::kReduce;
  return one_phase ? std::optional(Reading::kBackwards) : std::nullopt;
}

bool all_reduce(const TransferBatch& transfers) {
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    if (transfers[i].op != Op::kReduce) {
      return false;
    }
  }
  return true;
}

/// The network that copies are made on: turned round where they are read backwards.
Topology as_read(const Topology& now, Reading reading) {
  return reading == Reading::kBackwards ? now.reversed() : now;
}

/// Copies with times, as the schedule that they stand for.
Schedule as_meant(const Bundle& before,
                  const Topology& now,
                  const Topology& read,
                  Reading reading,
                  Schedule schedule) {
  if (reading == Reading::kForwards) {
    return schedule;
  }
  return replay::retime(now,
                        before.collective,
                        before.link_model,
                        replay::mirrored(read, before.collective, replay::all_transfers(schedule)));
}

}  // namespace

bool keeping_may_pay(const Bundle& bundle) {
  return bundle.topology.num_switches() > 0 || !traits(bundle.collective.chunk_kind()).spreads();
}

Result<std::optional<Copies>> copies_of(const Bundle& bundle) {
  const std::uint64_t places =
      std::uint64_t{bundle.topology.num_npus()} * bundle.collective.num_chunks();
  const std::optional<Reading> reading = reading_of(bundle);
  if (!reading || bundle.schedule.num_moves() > kMostMoves || places > kMostPlaces) {
    return std::optional<Copies>();
  }
  TransferBatch transfers;
  const Status read = read_batches(bundle.schedule, 1, [&](const TransferBatch& batch) {
    transfers.append(batch, 0, batch.size());
    return ok();
  });
  if (!read) {
    return read.error();
  }
  if (*reading == Reading::kBackwards) {
    if (!all_reduce(transfers)) {
      return std::optional<Copies>();
    }
    transfers = replay::mirrored(bundle.topology, bundle.collective, transfers);
  }
  return std::optional(
      index_copies(bundle.topology, bundle.collective, std::move(transfers), *reading));
}

std::optional<KeptSchedule> keep(const Bundle& before, const Copies& copies, const Topology& now) {
  const Topology topology = as_read(now, copies.reading);
  std::optional<Rerouted> rerouted =
      reroute(topology, before.collective, before.link_model, copies);
  if (!rerouted) {
    return std::nullopt;
  }
  Schedule schedule =
      replay::retime(topology, before.collective, before.link_model, rerouted->transfers);
  std::optional<Schedule> listed = replay::schedule_messages(topology,
                                                             before.collective,
                                                             before.link_model,
                                                             rerouted->transfers,
                                                             schedule.collective_time());
  const Timing timing = listed ? Timing::kListed : Timing::kInOrder;
  if (listed) {
    schedule = *std::move(listed);
  }
  return KeptSchedule{
      .schedule = as_meant(before, now, topology, copies.reading, std::move(schedule)),
      .rerouted = *std::move(rerouted),
      .timing = timing};
}

Difference KeptSchedule::difference(const Copies& before) const {
  Difference difference = difference_of(before, rerouted);
  difference.timing = timing;
  difference.schedule_hash = schedule.hash();
  difference.kept_transfers = rerouted.kept;
  difference.new_transfers = rerouted.added;
  return difference;
}

Result<Schedule> rebuild(const Bundle& before,
                         const Copies& copies,
                         const Topology& now,
                         const Difference& difference) {
  const Topology topology = as_read(now, copies.reading);
  const TransferBatch transfers = applied(copies, difference);
  const auto links = transfers.links();
  if (std::any_of(links.begin(), links.end(), [&](LinkId link) { return now.failed(link); })) {
    return input_error("takes links that have failed; make the contingency plan again");
  }
  std::optional<Schedule> schedule =
      difference.timing == Timing::kListed
          ? replay::schedule_messages(topology, before.collective, before.link_model, transfers)
          : replay::retime(topology, before.collective, before.link_model, transfers);
  if (schedule) {
    schedule = as_meant(before, now, topology, copies.reading, *std::move(schedule));
  }
  if (!schedule || schedule->hash() != difference.schedule_hash) {
    return input_error("is what differs from another schedule; make the contingency plan again");
  }
  return *std::move(schedule);
}

}  // namespace tacos::repairing
