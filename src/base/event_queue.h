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
#include <bit>
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
  /// Several at once, which all happen at `time`: make(0), make(1), ...
  template <class Make>
  void push_all(Ticks now, Ticks time, std::size_t count, const Make& make) {
    const Ticks delay = time - now;
    next_ = std::min(next_, time);
    for (Row& row : rows_) {
      if (row.delay == delay) {
        row.push_all(count, make);
        return;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      push(now, make(i));
    }
  }

  /// Replaces `taken` by all events of the next instant.
  void take_next(std::vector<Event>& taken) {
    taken.clear();
    const Ticks now = next_;
    next_ = kNever;
    for (Row& row : rows_) {
      row.take(now, taken);
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
    /// Appends all events of this time, which come first.
    void take(Ticks now, std::vector<Event>& taken) {
      while (size != 0 && ring[head].time == now) {
        // As far as they are, up to the end of the ring.
        const std::size_t most = std::min(size, ring.size() - head);
        std::size_t count = 1;
        while (count < most && ring[head + count].time == now) {
          ++count;
        }
        const auto from = ring.begin() + static_cast<std::ptrdiff_t>(head);
        taken.insert(taken.end(), from, from + static_cast<std::ptrdiff_t>(count));
        head = (head + count) & (ring.size() - 1);
        size -= count;
      }
    }
    void push(const Event& event) {
      if (size == ring.size()) {
        make_room(1);
      }
      ring[(head + size) & (ring.size() - 1)] = event;
      ++size;
    }
    template <class Make>
    void push_all(std::size_t count, const Make& make) {
      make_room(count);
      for (std::size_t done = 0; done < count;) {
        const std::size_t at = (head + size) & (ring.size() - 1);
        // Up to the end of the ring, which needs no look at where it is.
        const std::size_t piece = std::min(count - done, ring.size() - at);
        Event* const to = ring.data() + at;
        for (std::size_t i = 0; i < piece; ++i) {
          to[i] = make(done + i);
        }
        done += piece;
        size += piece;
      }
    }
    void make_room(std::size_t count) {
      if (size + count > ring.size()) {
        std::rotate(ring.begin(), ring.begin() + static_cast<std::ptrdiff_t>(head), ring.end());
        head = 0;
        ring.resize(std::bit_ceil(size + count));
      }
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
