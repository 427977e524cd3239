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
          .order = StepOrder::kForwards,
          .op = Op::kCopy,
          .begin = begin,
          .step = gathered.step};
}

LogPart backwards(const GatherResult& gathered) {
  return {.log = gathered.log,
          .order = StepOrder::kBackwards,
          .op = Op::kReduce,
          .begin = {},
          .step = gathered.step};
}

/// When the last transfer really ends: chunks may be a byte smaller than planned. Earlier steps
/// have ended before the last one starts.
Ticks real_end(const LogPart& part, const ArrivalClock& clock) {
  LogPart turned = part;
  turned.order = part.order == StepOrder::kForwards ? StepOrder::kBackwards : StepOrder::kForwards;
  const LogSource source({turned}, 0);
  const Ticks last_start = part.end() - part.step;
  return read_parts<Ticks>(std::span(&turned, 1), [&] {
    const auto cursor = source.cursor();
    Ticks latest;
    TransferBatch batch;
    for (bool same_step = true; same_step;) {
      TACOS_ASSERT(cursor->next(batch).has_value(), "a schedule in memory is whole");
      same_step = !batch.empty() && batch.starts().back() == turned.begin;
      for (std::size_t i = 0; i < batch.size() && batch.starts()[i] == turned.begin; ++i) {
        latest = std::max(latest, clock.end({last_start, batch.links()[i], batch.chunks()[i]}));
      }
    }
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
