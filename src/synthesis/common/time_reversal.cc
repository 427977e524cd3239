// SPDX-License-Identifier: MIT
#include "synthesis/common/time_reversal.h"

#include "base/assert.h"
#include "schedule/source.h"

namespace tacos {
namespace {

/// Blocks in memory cannot fail to decode.
void must(const Status& status) {
  TACOS_ASSERT(status.has_value(), "a schedule in memory is whole");
}

}  // namespace

void append_reversed(const Schedule& gather,
                     Ticks planned_end,
                     const ArrivalClock& clock,
                     ScheduleBuilder& out) {
  DeliveryBuffer buffer(out, clock, Op::kReduce);
  TransferBatch batch;
  const auto cursor = source_of(gather).reverse_cursor();
  for (must(cursor->next(batch)); !batch.empty(); must(cursor->next(batch))) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      Delivery delivery{
          .start = batch.starts()[i], .link = batch.links()[i], .chunk = batch.chunks()[i]};
      delivery.start = planned_end - clock.planned_end(delivery);
      buffer.add(delivery);
    }
    // Whatever is still to come started no later than this batch, so it ended at most max_duration
    // after the batch began.
    buffer.flush_before(planned_end - batch.starts().front() - clock.max_duration());
  }
  buffer.flush();
}

void append_delayed(const Schedule& gather,
                    const ArrivalClock& clock,
                    Ticks delay,
                    ScheduleBuilder& out) {
  DeliveryBuffer buffer(out, clock, Op::kCopy);
  TransferBatch batch;
  const auto cursor = gather.cursor();
  for (must(cursor->next(batch)); !batch.empty(); must(cursor->next(batch))) {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      buffer.append({.start = batch.starts()[i] + delay,
                     .link = batch.links()[i],
                     .chunk = batch.chunks()[i]});
    }
  }
}

}  // namespace tacos
