// SPDX-License-Identifier: MIT
#include "verify/in_order.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "base/parallel/cancel.h"
#include "schedule/read_ahead.h"
#include "verify/copies.h"
#include "verify/data_replay.h"
#include "verify/sums.h"
#include "verify/traffic.h"
#include "verify/wires.h"

namespace tacos {
namespace {

/// One pass over the transfers. `Data` is Copies or Sums.
template <class Data>
class Replay {
 public:
  Replay(const WireTable& table,
         const Collective& collective,
         Pass pass,
         Data& data,
         Violations& violations)
      : table_(table),
        pass_(pass),
        wires_(table, pass, violations),
        traffic_(table, 0, pass == Pass::kFirst ? table.num_links() : 0, violations),
        data_(collective, data, violations) {}

  /// Calls seen(transfers so far) after each batch.
  template <class Seen>
  [[nodiscard]] Status run(TransferCursor& cursor, const Seen& seen) {
    TransferBatch batch;
    while (true) {
      check_cancel();
      if (Status status = cursor.next(batch); !status) {
        return status;
      }
      if (batch.empty()) {
        break;
      }
      replay(batch);
      seen(counts_.transfers);
    }
    traffic_.finish();
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
    if (pass_ == Pass::kFirst &&
        !traffic_.occupy_simple(transfer.start, link, table_.busy(link, chunk))) [[unlikely]] {
      traffic_.occupy(transfer, index);
    }
    data_.move(flight, transfer, chunk, index);
  }

  void replay(const Transfer& transfer) {
    const std::uint64_t index = counts_.transfers++;
    counts_.moves += transfer.chunks.size();
    if (pass_ == Pass::kLater && !data_.covers_any(transfer.chunks)) {
      return;
    }
    const std::optional<Flight> flight = wires_.check(transfer, index);
    if (!flight) {
      return;
    }
    counts_.latest = std::max(counts_.latest, flight->end);
    if (pass_ == Pass::kFirst) {
      traffic_.occupy(transfer, index);
    }
    data_.replay(*flight, transfer, index);
  }

  const WireTable& table_;
  Pass pass_;
  Wires wires_;
  Traffic traffic_;
  DataReplay<Data> data_;
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

Result<Counts> replay_copies(const WireTable& table,
                             const Collective& collective,
                             const Schedule& schedule,
                             const VerifyOptions& options,
                             Violations& violations) {
  Copies copies(table.topology(), collective, violations, 0, collective.num_chunks());
  Replay<Copies> replay(table, collective, Pass::kFirst, copies, violations);
  const PassProgress progress(options, schedule, 1);
  const auto cursor = open_cursor(schedule, options.threads);
  const Status status =
      replay.run(*cursor, [&](std::uint64_t transfers) { progress.tell(0, transfers); });
  if (!status) {
    return status.error();
  }
  return replay.counts();
}

Result<Counts> replay_sums(const WireTable& table,
                           const Collective& collective,
                           const Schedule& schedule,
                           const VerifyOptions& options,
                           Violations& violations) {
  const std::uint32_t chunks = collective.num_chunks();
  const std::uint32_t block =
      Sums::chunks_within(options.memory_bytes, table.topology().num_npus(), chunks);
  const std::uint32_t passes = std::max(1U, (chunks + block - 1) / std::max(1U, block));
  const PassProgress progress(options, schedule, passes);
  Counts counts;
  std::uint32_t first = 0;
  do {
    const Pass pass = first == 0 ? Pass::kFirst : Pass::kLater;
    Sums sums(table.topology(), collective, violations, first, std::min(block, chunks - first));
    Replay<Sums> replay(table, collective, pass, sums, violations);
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

}  // namespace

Result<Counts> replay_in_order(const WireTable& table,
                               const Collective& collective,
                               const Schedule& schedule,
                               const VerifyOptions& options,
                               Violations& violations) {
  return collective.reduces() ? replay_sums(table, collective, schedule, options, violations)
                              : replay_copies(table, collective, schedule, options, violations);
}

}  // namespace tacos
