// SPDX-License-Identifier: MIT
// The referee. It reads a topology, a collective and a schedule, trusts none of the numbers in the
// schedule, and shares no code with what makes schedules.
//
// What is proved. A schedule without violations, run as written,
//   1. names only links and chunks that exist, in start order, over routes from NPU to NPU with
//      nothing but switches between (wires.h);
//   2. never has two transfers on one link at once, under the given link model (traffic.h);
//   3. never sends what is not there: the sender holds the chunk when the transfer starts, and
//      it does not change until the transfer has ended (copies.h, sums.h);
//   4. leaves every place of the postcondition with exactly what the collective asks for;
//   5. takes the time, and has the number of transfers and moves, that it says.
//
// How. The transfers are replayed in start order; whatever happens later than a start (data
// arrives, the head of a message reaches the second link of a route) waits in a queue of events,
// and before a transfer starts at time t all events up to and including t are applied. Invariant:
// when a transfer is looked at, every link and every place is as it is at its start.
//
// Copying collectives need a bit per place (NPU and chunk): who holds a chunk holds the right one,
// since there is no other. In reducing collectives every participant's contribution to a chunk is a
// 64-bit number that looks random; a copy sets the receiver's number, a reduce adds to it modulo
// 2^64. A place with the sum of all contributions has, whatever the order of the reduction, counted
// each exactly once. This is the one check that is probabilistic: a wrong set of contributions adds
// up to the right sum with probability 2^-64. It guards against mistakes, not against an enemy: the
// key is fixed, so that verdicts can be repeated, and a contribution counted 2^64 times too often
// would go unnoticed.
//
// A transfer that makes no sense is reported and left out of the replay. Any other violation is
// reported once and the replay goes on as if it were none, so that what follows from it is, where
// possible, not reported again.
//
// A schedule that is a pattern and its translations is not replayed but proved (pattern_proof.cc),
// and of one that repeats itself one round is replayed (periodic_proof.cc). Large ones are replayed
// in slices, on all threads (in_slices.cc), or, where they can be read link by link and only copy,
// looked at NPU by NPU (by_link.cc); when something is wrong, in order, to say what.
//
// Cost. O(1) per transfer and link of a route, with no allocation once the queues have grown to the
// number of transfers in flight. Memory: a bit per place for copying. For reducing 16 bytes per
// place, so chunks are checked a block at a time within options.memory_bytes (at least one chunk),
// with one pass over the schedule per block; links and time are checked in the first pass only.
// Measured on one AMD EPYC core, with decoding (11 ns): All-Gather on a 64x64 mesh, 16.8 M
// transfers, 29 ns each; with links of four latencies 37 ns, of forty (the heap) 130 ns;
// Reduce-Scatter 80 ns.
#include "tacos/verify.h"

#include <limits>
#include <optional>
#include <string>
#include <variant>

#include <fmt/format.h>

#include "base/memory/room.h"
#include "base/parallel/cancel.h"
#include "base/parallel/team.h"
#include "schedule/source.h"
#include "verify/by_link.h"
#include "verify/by_team.h"
#include "verify/in_order.h"
#include "verify/in_slices.h"
#include "verify/pattern_proof.h"
#include "verify/periodic_proof.h"
#include "verify/sums.h"
#include "verify/violations.h"
#include "verify/wire_table.h"

namespace tacos {
namespace {

/// Whether every participant is an NPU of this network.
bool check_participants(const Topology& topology,
                        const Collective& collective,
                        Violations& violations) {
  for (const NodeId node : collective.participants()) {
    if (!topology.is_npu(node)) {
      violations.add([&] {
        return fmt::format("participant {} is no NPU of the network, which has NPUs 0 to {}",
                           node.value(),
                           topology.num_npus() - 1);
      });
    }
  }
  return violations.count() == 0;
}

void check_totals(const Schedule& stated, const Counts& counts, Violations& violations) {
  if (stated.num_transfers() != counts.transfers) {
    violations.add([&] {
      return fmt::format("the schedule says it has {} transfers, but it has {}",
                         stated.num_transfers(),
                         counts.transfers);
    });
  }
  if (stated.num_moves() != counts.moves) {
    violations.add([&] {
      return fmt::format("the schedule says it moves {} chunks, but it moves {}",
                         stated.num_moves(),
                         counts.moves);
    });
  }
  if (stated.collective_time() != counts.latest) {
    violations.add([&] {
      return fmt::format("the schedule says it takes {} ps, but it takes {} ps",
                         stated.collective_time().ps,
                         counts.latest.ps);
    });
  }
}

/// Everything that is judged.
struct Matter {
  const Topology& topology;
  const Collective& collective;
  const Schedule& schedule;
  const VerifyOptions& options;
  const SliceOptions& cut;
};

/// Whether the schedule has a form that is judged without replaying all of it.
bool is_provable(const Matter& matter) {
  const ScheduleForm form = source_of(matter.schedule).form();
  return std::holds_alternative<const Timetable*>(form) ||
         (std::holds_alternative<const Pattern*>(form) &&
          proves_patterns_of(matter.collective.chunk_kind()));
}

/// Whether there is enough to do.
bool is_worth_slicing(const Matter& matter) {
  return matter.schedule.num_transfers() >= matter.cut.least_transfers &&
         matter.topology.num_links() > 0 && matter.collective.num_chunks() > 0;
}

/// A bit for each place, or of sums one chunk at a time, when so many share the chunks.
Status check_room(const Matter& matter, int members) {
  const std::uint64_t npus = matter.topology.num_npus();
  const std::uint64_t bits = npus * matter.collective.num_chunks() / 8;
  return check_memory_room(matter.collective.reduces() ? Sums::kPlaceBytes * npus
                                                       : bits / static_cast<std::uint64_t>(members),
                           std::nullopt,
                           "fewer chunks or more memory",
                           matter.topology.name());
}

/// Large ones, by what has no words: nothing when something is wrong or could not be told.
std::optional<Counts> replay_silently(const Matter& matter, const WireTable& table) {
  if (!is_worth_slicing(matter)) {
    return std::nullopt;
  }
  const TransferSource& source = source_of(matter.schedule);
  if (!matter.collective.reduces()) {
    ThreadPool pool(matter.options.threads);
    if (const auto lists = source.link_lists(pool)) {
      return check_by_link(table, matter.collective, *lists, matter.options, pool);
    }
  }
  if (matter.options.threads <= 1 || !source.whole()) {
    return std::nullopt;
  }
  Alone alone;
  return replay_in_slices(
      table, matter.collective, matter.schedule, matter.options, matter.cut, alone);
}

/// By one process, or the leader of several that hold the schedule.
Result<Counts> replay(const Matter& matter, Violations& violations) {
  if (Status fits = check_room(matter, 1); !fits) {
    return fits.error();
  }
  const WireTable table(matter.topology, matter.collective.chunks(), matter.options.link_model);
  if (const std::optional<Counts> counts = replay_silently(matter, table)) {
    return *counts;
  }
  return replay_in_order(table, matter.collective, matter.schedule, matter.options, violations);
}

/// A periodic schedule keeps to its period, and one round of it is replayed, with chunks of either
/// size. Nothing when its rounds are not alike.
std::optional<Result<Counts>> prove_rounds(const Matter& matter,
                                           const Timetable& timetable,
                                           Violations& violations) {
  Counts counts{.transfers = count_transfers(timetable),
                .moves = timetable.entries.size() * std::uint64_t{timetable.rounds},
                .latest = {}};
  const auto latest = check_period(
      matter.topology, matter.collective, matter.options.link_model, timetable, violations);
  if (!latest) {
    return counts;
  }
  counts.latest = *latest;
  const ChunkTable& chunks = matter.collective.chunks();
  const bool equal = chunks.size().count % chunks.count() == 0;
  for (std::int64_t less = 0; less <= (equal ? 0 : 1) && violations.count() == 0; ++less) {
    const auto round = first_round(matter.collective, timetable, {chunks.max_bytes().count - less});
    if (!round) {
      return std::nullopt;
    }
    const Result<Counts> once =
        replay({matter.topology, round->collective, round->schedule, matter.options, matter.cut},
               violations);
    if (!once) {
      return once.error();
    }
  }
  return counts;
}

/// A pattern is judged as it is where there is a proof for it, of a periodic schedule one round is
/// replayed, and anything else whole.
Result<Counts> judge(const Matter& matter, Violations& violations) {
  const ScheduleForm form = source_of(matter.schedule).form();
  const auto* const pattern = std::get_if<const Pattern*>(&form);
  if (pattern != nullptr && proves_patterns_of(matter.collective.chunk_kind())) {
    const PatternCounts counts = prove_pattern(
        matter.topology, matter.collective, matter.options.link_model, **pattern, violations);
    return Counts{
        .transfers = counts.transfers, .moves = counts.transfers, .latest = counts.latest};
  }
  if (const auto* const timetable = std::get_if<const Timetable*>(&form)) {
    if (auto counts = prove_rounds(matter, **timetable, violations)) {
      return *std::move(counts);
    }
  }
  return replay(matter, violations);
}

VerifyReport report_of(Violations& violations, const Counts& counts) {
  return {.violations = violations.take_sentences(),
          .num_violations = violations.count(),
          .num_transfers = counts.transfers,
          .collective_time = counts.latest};
}

Result<VerifyReport> verify_alone(const Matter& matter) {
  Violations violations(matter.topology, matter.options.max_violations);
  Counts counts;
  if (check_participants(matter.topology, matter.collective, violations)) {
    const Result<Counts> judged = judge(matter, violations);
    if (!judged) {
      return judged.error();
    }
    counts = *judged;
    check_totals(matter.schedule, counts, violations);
  }
  return report_of(violations, counts);
}

/// By all members; nothing when it takes one of them to say what is wrong.
Result<std::optional<VerifyReport>> verify_in_slices(const Matter& matter, Team& team) {
  const Status fits = check_room(matter, team.size());
  if (const std::optional<Error> error =
          first_error(team, fits ? std::nullopt : std::optional(fits.error()))) {
    return *error;
  }
  const WireTable table(matter.topology, matter.collective.chunks(), matter.options.link_model);
  const std::optional<Counts> counts =
      replay_in_slices(table, matter.collective, matter.schedule, matter.options, matter.cut, team);
  if (!counts) {
    return std::optional<VerifyReport>();
  }
  Violations violations(matter.topology, matter.options.max_violations);
  check_totals(matter.schedule, *counts, violations);
  return std::optional(report_of(violations, *counts));
}

/// The leader's, for everybody.
Result<VerifyReport> broadcast_report(Team& team, const Result<VerifyReport>& report) {
  Packet packet;
  if (team.leads()) {
    put(packet, report.has_value());
    if (report) {
      put(packet, report->violations.size());
      for (const std::string& violation : report->violations) {
        put_text(packet, violation);
      }
      put(packet, report->num_violations);
      put(packet, report->num_transfers);
      put(packet, report->collective_time);
    } else {
      put_error(packet, report.error());
    }
  }
  packet = broadcast(team, 0, packet);
  PacketReader reader(packet);
  if (!reader.get<bool>()) {
    return get_error(reader);
  }
  VerifyReport got;
  got.violations.resize(reader.get<std::size_t>());
  for (std::string& violation : got.violations) {
    violation = reader.get_text();
  }
  got.num_violations = reader.get<std::uint64_t>();
  got.num_transfers = reader.get<std::uint64_t>();
  got.collective_time = reader.get<Ticks>();
  return got;
}

}  // namespace

Result<VerifyReport> verify(const Topology& topology,
                            const Collective& collective,
                            const Schedule& schedule,
                            const VerifyOptions& options) {
  return cancellable(options.cancel, [&] {
    return verify_alone({topology, collective, schedule, options, SliceOptions{}});
  });
}

Result<VerifyReport> verify_by_team(const Topology& topology,
                                    const Collective& collective,
                                    const Schedule& schedule,
                                    const VerifyOptions& options,
                                    Team& team,
                                    const SliceOptions& cut) {
  Matter matter{topology, collective, schedule, options, cut};
  if (team.size() == 1) {
    return verify_alone(matter);
  }
  // What form it has only the leader knows.
  Violations violations(topology, 0);
  const bool together = broadcast(team,
                                  0,
                                  check_participants(topology, collective, violations) &&
                                      !is_provable(matter) && is_worth_slicing(matter));
  SliceOptions rest = cut;
  if (together) {
    Result<std::optional<VerifyReport>> report = verify_in_slices(matter, team);
    if (!report) {
      return report.error();
    }
    if (*report) {
      return **report;
    }
    // The words are in the order of the list, so there is no point in cutting it again.
    rest.least_transfers = std::numeric_limits<std::uint64_t>::max();
  }
  Result<VerifyReport> report = VerifyReport();
  source_of(schedule).read_together([&] {
    if (team.leads()) {
      report = verify_alone({topology, collective, schedule, options, rest});
    }
  });
  return broadcast_report(team, report);
}

}  // namespace tacos
