// SPDX-License-Identifier: MIT
// The referee. It reads a topology, a collective and a schedule, trusts none of the numbers in the
// schedule, and shares no code with what makes schedules.
//
// What is proved. A schedule without violations, run as written,
//   1. names only links and chunks that exist, in start order, over routes from NPU to NPU with
//      nothing but switches between (wires.h);
//   2. never has two transfers on one link at once, under the given link model (wires.h);
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

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/memory/room.h"
#include "schedule/read_ahead.h"
#include "schedule/source.h"
#include "verify/copies.h"
#include "verify/pattern_proof.h"
#include "verify/sums.h"
#include "verify/violations.h"
#include "verify/wires.h"

namespace tacos {
namespace {

/// What was counted while replaying.
struct Counts {
  std::uint64_t transfers = 0;
  std::uint64_t moves = 0;
  Ticks latest;
};

/// One pass over the transfers. `Data` is Copies or Sums.
template <class Data>
class Replay {
 public:
  Replay(const Collective& collective, Pass pass, Wires& wires, Data& data, Violations& violations)
      : collective_(collective), pass_(pass), wires_(wires), data_(data), violations_(violations) {}

  /// Calls seen(transfers so far) after each batch.
  template <class Seen>
  [[nodiscard]] Status run(TransferCursor& cursor, const Seen& seen) {
    wires_.begin(pass_);
    TransferBatch batch;
    while (true) {
      if (Status status = cursor.next(batch); !status) {
        return status;
      }
      if (batch.empty()) {
        break;
      }
      replay(batch);
      seen(counts_.transfers);
    }
    if (pass_ == Pass::kFirst) {
      wires_.finish();
    }
    data_.finish();
    return ok();
  }
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  void replay(const TransferBatch& batch) {
    if (!batch.simple()) {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        replay(batch[i]);
      }
      return;
    }
    constexpr std::size_t kAhead = 16;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (i + kAhead < batch.size()) {
        data_.prefetch(wires_.source(batch.links()[i + kAhead]), batch.chunks()[i + kAhead]);
      }
      replay_simple({.start = batch.starts()[i],
                     .op = batch.ops()[i],
                     .links = batch.links().subspan(i, 1),
                     .chunks = batch.chunks().subspan(i, 1)});
    }
  }

  /// `replay` for one chunk over one link; whatever is unusual goes there.
  void replay_simple(const Transfer& transfer) {
    const LinkId link = transfer.links.front();
    const ChunkId chunk = transfer.chunks.front();
    Flight flight;
    if (pass_ == Pass::kLater && !data_.covers(chunk)) {
      ++counts_.transfers;
      return;
    }
    if (!data_.allows(transfer.op, chunk) ||
        !wires_.check_simple(transfer.start, link, chunk, flight)) [[unlikely]] {
      replay(transfer);
      return;
    }
    const std::uint64_t index = counts_.transfers++;
    ++counts_.moves;
    counts_.latest = std::max(counts_.latest, flight.end);
    if (pass_ == Pass::kFirst && !wires_.occupy_simple(transfer.start, link, chunk)) [[unlikely]] {
      wires_.occupy(transfer, index);
    }
    move(flight, transfer, chunk, index);
  }

  void replay(const Transfer& transfer) {
    const std::uint64_t index = counts_.transfers++;
    counts_.moves += transfer.chunks.size();
    if (pass_ == Pass::kLater && !covers_any(transfer.chunks)) {
      return;
    }
    const std::optional<Flight> flight = wires_.check(transfer, index);
    if (!flight) {
      return;
    }
    counts_.latest = std::max(counts_.latest, flight->end);
    if (pass_ == Pass::kFirst) {
      wires_.occupy(transfer, index);
    }
    const auto wrong =
        std::find_if(transfer.chunks.begin(), transfer.chunks.end(), [&](ChunkId chunk) {
          return !data_.allows(transfer.op, chunk);
        });
    if (wrong != transfer.chunks.end()) {
      violations_.add(transfer, index, [&] {
        return collective_.reduces()
                   ? fmt::format("chunk {} is copied, not added", wrong->value())
                   : fmt::format("{} copies, it does not add", to_string(collective_.chunk_kind()));
      });
    }
    for (const ChunkId chunk : transfer.chunks) {
      move(*flight, transfer, chunk, index);
    }
  }

  [[nodiscard]] bool covers_any(std::span<const ChunkId> chunks) const {
    return std::any_of(
        chunks.begin(), chunks.end(), [this](ChunkId chunk) { return data_.covers(chunk); });
  }

  void move(const Flight& flight, const Transfer& transfer, ChunkId chunk, std::uint64_t index) {
    if (!data_.covers(chunk)) {
      return;
    }
    data_.advance(transfer.start);
    if (!data_.holds(flight.src, chunk)) [[unlikely]] {
      violations_.add(transfer, index, [&] {
        return fmt::format(
            "{} does not hold chunk {} at the start", violations_.name(flight.src), chunk.value());
      });
    }
    data_.send(flight, transfer, chunk, index);
  }

  const Collective& collective_;
  Pass pass_;
  Wires& wires_;
  Data& data_;
  Violations& violations_;
  Counts counts_;
};

/// Tells how much of `passes` over a schedule is done, as far as its stated length can be trusted.
class PassProgress {
 public:
  PassProgress(const VerifyOptions& options, const Schedule& schedule, std::uint32_t passes)
      : progress_(options.progress),
        each_(static_cast<double>(std::max<std::uint64_t>(1, schedule.num_transfers()))),
        passes_(passes) {}

  void tell(std::uint32_t pass, std::uint64_t transfers) const {
    if (progress_) {
      const double share = std::min(1.0, static_cast<double>(transfers) / each_);
      progress_((pass + share) / passes_);
    }
  }

 private:
  const std::function<void(double)>& progress_;
  double each_;
  double passes_;
};

Result<Counts> replay_copies(const Topology& topology,
                             const Collective& collective,
                             const Schedule& schedule,
                             const VerifyOptions& options,
                             Wires& wires,
                             Violations& violations) {
  Copies copies(topology, collective, violations);
  Replay<Copies> replay(collective, Pass::kFirst, wires, copies, violations);
  const PassProgress progress(options, schedule, 1);
  const auto cursor = open_cursor(schedule, options.threads);
  const Status status =
      replay.run(*cursor, [&](std::uint64_t transfers) { progress.tell(0, transfers); });
  if (!status) {
    return status.error();
  }
  return replay.counts();
}

Result<Counts> replay_sums(const Topology& topology,
                           const Collective& collective,
                           const Schedule& schedule,
                           const VerifyOptions& options,
                           Wires& wires,
                           Violations& violations) {
  const std::uint32_t chunks = collective.num_chunks();
  const std::uint32_t block =
      Sums::chunks_within(options.memory_bytes, topology.num_npus(), chunks);
  const std::uint32_t passes = std::max(1U, (chunks + block - 1) / std::max(1U, block));
  const PassProgress progress(options, schedule, passes);
  Counts counts;
  std::uint32_t first = 0;
  do {
    const Pass pass = first == 0 ? Pass::kFirst : Pass::kLater;
    Sums sums(topology, collective, violations, first, std::min(block, chunks - first));
    Replay<Sums> replay(collective, pass, wires, sums, violations);
    const auto cursor = open_cursor(schedule, options.threads);
    const Status status = replay.run(
        *cursor, [&](std::uint64_t transfers) { progress.tell(first / block, transfers); });
    if (!status) {
      return status.error();
    }
    if (pass == Pass::kFirst) {
      counts = replay.counts();
    }
    first += block;
  } while (first < chunks);
  return counts;
}

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
  Wires wires(topology, collective.chunks(), options.link_model, violations);
  return collective.reduces()
             ? replay_sums(topology, collective, schedule, options, wires, violations)
             : replay_copies(topology, collective, schedule, options, wires, violations);
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
