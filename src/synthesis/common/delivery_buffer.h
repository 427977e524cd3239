// SPDX-License-Identifier: MIT
// Puts deliveries, which a matcher makes roughly in time order, into the order of a schedule.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/topology.h"

#include "schedule/builder.h"

namespace tacos {

/// One chunk over one link, planned.
struct Delivery {
  Ticks start;
  LinkId link;
  ChunkId chunk;

  friend auto operator<=>(const Delivery&, const Delivery&) = default;
};

/// Real ends of transfers: chunks may be a byte smaller than planned.
class ArrivalClock {
 public:
  ArrivalClock(const Topology& topology, const ChunkTable& chunks, LinkModel model);
  [[nodiscard]] Ticks end(const Delivery& delivery) const {
    const bool small = chunks_.bytes(delivery.chunk) != chunks_.max_bytes();
    return delivery.start + arrival_[2 * delivery.link.index() + (small ? 1 : 0)];
  }
  /// What is planned for every chunk: the end for the largest.
  [[nodiscard]] Ticks planned_end(const Delivery& delivery) const {
    return delivery.start + arrival_[2 * delivery.link.index()];
  }
  [[nodiscard]] Ticks max_duration() const { return max_duration_; }
  /// By how much a transfer ends sooner than planned, at most.
  [[nodiscard]] Ticks max_saving() const { return max_saving_; }
  /// After the last end, until all links are free.
  [[nodiscard]] Ticks settling() const { return settling_; }
  [[nodiscard]] std::uint32_t num_links() const {
    return static_cast<std::uint32_t>(arrival_.size() / 2);
  }

 private:
  ChunkTable chunks_;
  std::vector<Ticks> arrival_;
  Ticks max_duration_;
  Ticks max_saving_;
  Ticks settling_;
};

/// Holds deliveries until nothing earlier can come, then appends them to a schedule in order.
class DeliveryBuffer {
 public:
  DeliveryBuffer(ScheduleBuilder& builder, const ArrivalClock& clock, Op op)
      : builder_(builder), clock_(clock), op_(op) {}

  void add(const Delivery& delivery) { pending_.push_back(delivery); }
  /// Promises that no delivery added later starts before `time`.
  void flush_before(Ticks time);
  void flush() { flush_before(kMaxTime); }
  void append(const Delivery& delivery);
  /// When the last delivery would end if all chunks were the largest.
  [[nodiscard]] Ticks planned_end() const { return planned_end_; }

 private:
  ScheduleBuilder& builder_;
  const ArrivalClock& clock_;
  Op op_;
  std::vector<Delivery> pending_;
  Ticks planned_end_;
  /// The latest end so far: only deliveries that may end later need their exact size.
  Ticks latest_;
};

inline void DeliveryBuffer::append(const Delivery& delivery) {
  const Ticks planned = clock_.planned_end(delivery);
  planned_end_ = std::max(planned_end_, planned);
  if (planned > latest_) {
    latest_ = std::max(latest_, clock_.end(delivery));
  }
  builder_.append(delivery.start, op_, delivery.link, delivery.chunk, latest_);
}

}  // namespace tacos
