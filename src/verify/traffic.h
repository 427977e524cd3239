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

  [[nodiscard]] bool covers(LinkId link) const { return link.value() - first_ < free_at_.size(); }
  /// Takes those of the transfer's links that are covered, of a transfer that makes sense; reports
  /// those that are not free.
  void occupy(const Transfer& transfer, std::uint64_t index);
  /// The same without words for one chunk over one link that is covered: false means ask `occupy`.
  [[nodiscard]] bool occupy_simple(Ticks start, LinkId link, ChunkId chunk) {
    Ticks& free_at = free_at_[link.value() - first_];
    if (start < free_at || entries_.next_time() <= start) {
      return false;
    }
    const WireTable::Wire& wire = table_[link];
    free_at = start + wire.serialization[table_.size_class(chunk)] + wire.held;
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
