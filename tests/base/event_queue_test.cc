// SPDX-License-Identifier: MIT
#include "base/event_queue.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/numbers/rng.h"

namespace tacos {
namespace {

struct Event {
  Ticks time;
};

/// Takes all events up to `now`; the times they have are appended to `times`.
void take_until(EventQueue<Event>& queue, Ticks now, std::vector<Ticks>& times) {
  std::vector<Event> group;
  while (queue.next_time() <= now) {
    const Ticks next = queue.next_time();
    queue.take_next(group);
    ASSERT_FALSE(group.empty());
    for (const Event& event : group) {
      times.push_back(event.time);
    }
    EXPECT_EQ(times.back(), next);
  }
}

/// Pushes events with delays from a set of the given size and takes them as the clock goes on.
void expect_in_order(std::uint32_t num_delays) {
  Rng rng(num_delays);
  EventQueue<Event> queue;
  std::vector<Ticks> pushed;
  std::vector<Ticks> taken;
  Ticks now;
  for (int i = 0; i < 5000; ++i) {
    now += Ticks{rng.below(3)};
    take_until(queue, now, taken);
    const Event event{now + Ticks{7 * std::int64_t{rng.below(num_delays)}}};
    queue.push(now, event);
    pushed.push_back(event.time);
  }
  take_until(queue, EventQueue<Event>::kNever - Ticks{1}, taken);
  std::sort(pushed.begin(), pushed.end());
  EXPECT_TRUE(taken == pushed);
  EXPECT_EQ(queue.next_time(), EventQueue<Event>::kNever);
}

TEST(EventQueue, GivesEventsInTimeOrder) {
  for (const std::uint32_t num_delays : {1U, 2U, 16U, 17U, 300U}) {
    expect_in_order(num_delays);
  }
}

TEST(EventQueue, GivesAllEventsOfAnInstantAtOnce) {
  EventQueue<Event> queue;
  for (std::int64_t delay = 40; delay > 0; --delay) {
    queue.push(Ticks{40 - delay}, {Ticks{40}});
  }
  std::vector<Event> group;
  queue.take_next(group);
  EXPECT_EQ(group.size(), 40U);
}

}  // namespace
}  // namespace tacos
