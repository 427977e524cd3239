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
// A schedule that is a pattern and its translations is not replayed but proved (pattern_proof.cc).
//
// Cost. O(1) per transfer and link of a route, with no allocation once the queues have grown to the
// number of transfers in flight. Memory: a bit per place for copying. For reducing 16 bytes per
// place, so chunks are checked a block at a time within options.memory_bytes (at least one chunk),
// with one pass over the schedule per block; links and time are checked in the first pass only.
// Measured on one AMD EPYC core, with decoding (11 ns): All-Gather on a 64x64 mesh, 16.8 M
// transfers, 29 ns each; with links of four latencies 37 ns, of forty (the heap) 130 ns;
// Reduce-Scatter 80 ns.
#include "tacos/verify.h"

#include <optional>
#include <variant>

#include <fmt/format.h>

#include "base/memory/room.h"
#include "schedule/source.h"
#include "verify/in_order.h"
#include "verify/pattern_proof.h"
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

void check_totals(const Schedule::Totals& stated, const Counts& counts, Violations& violations) {
  if (stated.transfers != counts.transfers) {
    violations.add([&] {
      return fmt::format("the schedule says it has {} transfers, but it has {}",
                         stated.transfers,
                         counts.transfers);
    });
  }
  if (stated.moves != counts.moves) {
    violations.add([&] {
      return fmt::format(
          "the schedule says it moves {} chunks, but it moves {}", stated.moves, counts.moves);
    });
  }
  if (stated.collective_time != counts.latest) {
    violations.add([&] {
      return fmt::format("the schedule says it takes {} ps, but it takes {} ps",
                         stated.collective_time.ps,
                         counts.latest.ps);
    });
  }
}

/// A pattern is judged as it is where there is a proof for it, anything else by replaying it.
Result<Counts> judge(const Topology& topology,
                     const Collective& collective,
                     const Schedule& schedule,
                     const VerifyOptions& options,
                     Violations& violations) {
  const ScheduleForm form = source_of(schedule).form();
  const auto* const pattern = std::get_if<const Pattern*>(&form);
  if (pattern != nullptr && proves_patterns_of(collective.chunk_kind())) {
    const PatternCounts counts =
        prove_pattern(topology, collective, options.link_model, **pattern, violations);
    return Counts{
        .transfers = counts.transfers, .moves = counts.transfers, .latest = counts.latest};
  }
  // A bit for each place, or of sums one chunk at a time.
  const std::uint64_t bytes =
      collective.reduces() ? std::uint64_t{16} * topology.num_npus()
                           : std::uint64_t{topology.num_npus()} * collective.num_chunks() / 8;
  if (Status fits =
          check_memory_room(bytes, std::nullopt, "fewer chunks or more memory", topology.name());
      !fits) {
    return fits.error();
  }
  const WireTable table(topology, collective.chunks(), options.link_model);
  return replay_in_order(table, collective, schedule, options, violations);
}

}  // namespace

Result<VerifyReport> verify(const Topology& topology,
                            const Collective& collective,
                            const Schedule& schedule,
                            const VerifyOptions& options) {
  Violations violations(topology, options.max_violations);
  VerifyReport report;
  if (check_participants(topology, collective, violations)) {
    const Result<Counts> counts = judge(topology, collective, schedule, options, violations);
    if (!counts) {
      return counts.error();
    }
    check_totals(schedule.totals(), *counts, violations);
    report.num_transfers = counts->transfers;
    report.collective_time = counts->latest;
  }
  report.num_violations = violations.count();
  report.violations = violations.take_sentences();
  return report;
}

}  // namespace tacos
