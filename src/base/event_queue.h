// SPDX-License-Identifier: MIT
// Events in time order, for a clock that only goes forward.
//
// An event pushed at `now` with a fixed delay happens after all events pushed before it with the
// same delay: events of one delay are a queue, first in, first out. A network has few delays (one
// per kind of link and size of chunk), so each gets a row, and the next event is the smallest of
// the rows' heads. Events whose delay found no row go to a binary heap. A push costs O(rows),
// and taking all events of one instant O(rows + events), or O(log events) each from the heap.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tacos/units.h"

namespace tacos {

/// `Event` has a member `Ticks time`.
template <class Event>
class EventQueue {
 public:
  static constexpr Ticks kNever{std::numeric_limits<std::int64_t>::max()};

  /// When the next event happens; kNever when there is none.
  [[nodiscard]] Ticks next_time() const { return next_; }

  /// `now` must not be smaller than in the push before, nor larger than the event's time.
  void push(Ticks now, const Event& event) {
    const Ticks delay = event.time - now;
    next_ = std::min(next_, event.time);
    for (Row& row : rows_) {
      if (row.delay == delay) {
        row.push(event);
        return;
      }
    }
    push_without_row(delay, event);
  }

  /// Replaces `taken` by all events of the next instant.
  void take_next(std::vector<Event>& taken) {
    taken.clear();
    const Ticks now = next_;
    next_ = kNever;
    for (Row& row : rows_) {
      while (row.size != 0 && row.front().time == now) {
        taken.push_back(row.front());
        row.pop();
      }
      if (row.size != 0) {
        next_ = std::min(next_, row.front().time);
      }
    }
    while (!heap_.empty() && heap_.front().time == now) {
      taken.push_back(heap_.front());
      std::pop_heap(heap_.begin(), heap_.end(), later);
      heap_.pop_back();
    }
    if (!heap_.empty()) {
      next_ = std::min(next_, heap_.front().time);
    }
  }

 private:
  /// A ring buffer; its capacity is a power of two.
  struct Row {
    Ticks delay;
    std::vector<Event> ring = std::vector<Event>(64);
    std::size_t head = 0;
    std::size_t size = 0;

    [[nodiscard]] const Event& front() const { return ring[head]; }
    void pop() {
      head = (head + 1) & (ring.size() - 1);
      --size;
    }
    void push(const Event& event) {
      if (size == ring.size()) {
        std::rotate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(head), ring.end());
        head = 0;
        ring.resize(2 * size);
      }
      ring[(head + size) & (ring.size() - 1)] = event;
      ++size;
    }
  };
  static constexpr std::size_t kMaxRows = 16;

  static bool later(const Event& a, const Event& b) { return a.time > b.time; }

  void push_without_row(Ticks delay, const Event& event) {
    if (rows_.size() < kMaxRows) {
      rows_.push_back(Row{.delay = delay});
      rows_.back().push(event);
    } else {
      heap_.push_back(event);
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
  }

  Ticks next_ = kNever;
  std::vector<Row> rows_;
  std::vector<Event> heap_;
};

}  // namespace tacos
