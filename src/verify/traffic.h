// SPDX-License-Identifier: MIT
// Whether links are free for the transfers that take them: of all links, or of some that follow
// each other.
#pragma once

#include <cstdint>
#include <vector>

#include "tacos/ids.h"
#include "tacos/schedule.h"
#include "tacos/units.h"

#include "base/event_queue.h"
#include "verify/violations.h"
#include "verify/wire_table.h"

namespace tacos {

class Traffic {
 public:
  /// Of the links [first, first + count).
  Traffic(const WireTable& table, std::uint32_t first, std::uint32_t count, Violations& violations)
      : table_(table), first_(first), free_at_(count), violations_(violations) {}

  /// Takes the links of a transfer that makes sense, all of which are covered; reports those that
  /// are not free.
  void occupy(const Transfer& transfer, std::uint64_t index) {
    table_.for_each_passage(transfer,
                            [&](const Passage& passage) { occupy(passage, transfer, index); });
  }
  /// One of them.
  void occupy(const Passage& passage, const Transfer& transfer, std::uint64_t index);
  /// The same without words where it is the only one: false means ask `occupy`.
  [[nodiscard]] bool occupy_simple(Ticks start, LinkId link, Ticks busy) {
    Ticks& free_at = free_at_[link.value() - first_];
    if (start < free_at || entries_.next_time() <= start) {
      return false;
    }
    free_at = start + busy;
    return true;
  }
  /// Call after the last transfer.
  void finish() { enter_until(EventQueue<Entry>::kNever - Ticks{1}); }

 private:
  /// The head of a message reaches a link that is not the first of its route.
  struct Entry {
    Ticks time;
    Ticks busy;
    std::uint64_t transfer = 0;
    LinkId link;
  };
  void enter_until(Ticks time);

  const WireTable& table_;
  std::uint32_t first_;
  /// When each link is free again.
  std::vector<Ticks> free_at_;
  Violations& violations_;
  EventQueue<Entry> entries_;
  std::vector<Entry> entering_;
};

}  // namespace tacos
