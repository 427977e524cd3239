// SPDX-License-Identifier: MIT
// Logs are read backwards and one after the other as they are, without copying; blocks are written
// anew.
#include "synthesis/matching/direct/gather_result.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "schedule/builder.h"
#include "schedule/logs/log_source.h"
#include "synthesis/common/time_reversal.h"

namespace tacos::matching {
namespace {

LogPart forwards(const GatherResult& gathered, Ticks begin) {
  return {.log = gathered.log,
          .order = LogOrder::kForwards,
          .op = Op::kCopy,
          .begin = begin,
          .unit = gathered.unit};
}

LogPart backwards(const GatherResult& gathered) {
  return {.log = gathered.log,
          .order = LogOrder::kBackwards,
          .op = Op::kReduce,
          .begin = {},
          .unit = gathered.unit};
}

/// When the last transfer really ends: chunks may be a byte smaller than planned. Those that are
/// planned to end last come first the other way round, and what is planned to end earlier by more
/// than a byte saves does not count.
Ticks real_end(const LogPart& part, const ArrivalClock& clock) {
  if (clock.max_saving() == Ticks{}) {
    return part.end();
  }
  LogPart turned = part;
  turned.order = part.order == LogOrder::kForwards ? LogOrder::kBackwards : LogOrder::kForwards;
  const LogSource source({turned}, LogSource::Encoded{});
  const Ticks still_counts = turned.begin + clock.max_saving();
  return read_parts<Ticks>(std::span(&turned, 1), [&] {
    const auto cursor = source.cursor();
    Ticks latest;
    TransferBatch batch;
    do {
      TACOS_ASSERT(cursor->next(batch).has_value(), "a schedule in memory is whole");
      for (std::size_t i = 0; i < batch.size() && batch.starts()[i] <= still_counts; ++i) {
        Delivery delivery{turned.begin, batch.links()[i], batch.chunks()[i]};
        const Ticks planned = part.end() - (batch.starts()[i] - turned.begin);
        delivery.start = planned - (clock.planned_end(delivery) - turned.begin);
        latest = std::max(latest, clock.end(delivery));
      }
    } while (!batch.empty() && batch.starts().back() <= still_counts);
    return latest;
  });
}

}  // namespace

Schedule all_gather_schedule(const GatherResult& gathered,
                             const ArrivalClock& clock,
                             ThreadPool& pool) {
  if (gathered.schedule) {
    return *gathered.schedule;
  }
  const LogPart part = forwards(gathered, {});
  return log_schedule({part}, real_end(part, clock), pool);
}

Schedule reduce_scatter_schedule(const GatherResult& scattered,
                                 const ArrivalClock& clock,
                                 ThreadPool& pool) {
  if (scattered.log != nullptr) {
    const LogPart part = backwards(scattered);
    return log_schedule({part}, real_end(part, clock), pool);
  }
  ScheduleBuilder builder(clock.num_links());
  append_reversed(*scattered.schedule, scattered.planned_end, clock, builder);
  return std::move(builder).build();
}

Schedule all_reduce_schedule(const GatherResult& scattered,
                             const GatherResult& gathered,
                             const ArrivalClock& clock,
                             ThreadPool& pool) {
  if (scattered.log != nullptr && gathered.log != nullptr) {
    const LogPart second = forwards(gathered, scattered.planned_end + clock.settling());
    return log_schedule({backwards(scattered), second}, real_end(second, clock), pool);
  }
  ScheduleBuilder builder(clock.num_links());
  append_reversed(*scattered.schedule, scattered.planned_end, clock, builder);
  append_delayed(*gathered.schedule, clock, scattered.planned_end + clock.settling(), builder);
  return std::move(builder).build();
}

}  // namespace tacos::matching
