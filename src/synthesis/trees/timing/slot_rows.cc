// SPDX-License-Identifier: MIT
// O(1) for each slot.
#include "synthesis/trees/timing/slot_rows.h"

#include <algorithm>

namespace tacos::trees {
namespace {

/// Slots of a link that has far less to do than others; it need not have all that would fit.
constexpr std::int64_t kEnoughSlots = 64;

}  // namespace

SlotRows::SlotRows(const Fabric& fabric,
                   const HopCosts& costs,
                   const Packing& packing,
                   std::uint32_t sharing,
                   bool mirrors) {
  const std::vector<LinkLoad> loads = link_loads(fabric, packing);
  period_ = round_period(fabric, costs, loads, sharing);
  rows_.resize(fabric.num_links());
  std::uint32_t slots = 0;
  for (std::uint32_t hop = 0; hop < fabric.num_hops(); ++hop) {
    const std::uint32_t link = fabric.links(hop).front().value();
    const std::uint32_t load = loads[link].down + loads[link].up;
    if (load == 0 || (mirrors && fabric.twin_link(link) < link)) {
      continue;
    }
    Row& row = rows_[link];
    row.first = slots;
    const std::int64_t fit = period_ / costs.busy(link);
    if (fit < load) {
      add_seats(costs, hop, loads[link], sharing, row);
    } else {
      row.longest = costs.arrival(hop);
      row.longest_mirrored = row.longest;
      row.count =
          static_cast<std::uint32_t>(std::min(fit, std::max(kEnoughSlots, 4 * std::int64_t{load})));
      row.spacing = period_ / row.count;
    }
    slots += row.count;
  }
  holder_.assign(slots, kNone);
}

/// No more chunks share a transfer than must; the two kinds take turns.
void SlotRows::add_seats(
    const HopCosts& costs, std::uint32_t hop, const LinkLoad& load, std::uint32_t most, Row& row) {
  const auto busy = [&](std::uint32_t chunks) { return costs.free_after(hop, 0, chunks); };
  std::uint32_t sharing = 2;
  while (sharing < most && busy_for(load, sharing, busy) > period_) {
    ++sharing;
  }
  const Shares down(load.down, sharing);
  const Shares up(load.up, sharing);
  row.count = load.down + load.up;
  row.plain_seats = load.down;
  row.first_seat = static_cast<std::uint32_t>(seats_.size());
  seats_.resize(seats_.size() + row.count);
  std::uint32_t next_plain = row.first_seat;
  std::uint32_t next_mirrored = row.first_seat + load.down;
  std::int64_t offset = 0;
  for (std::uint32_t d = 0, u = 0; d < down.transfers || u < up.transfers;) {
    const bool mirrored =
        d == down.transfers ||
        (u < up.transfers && (2 * u + 1) * down.transfers < (2 * d + 1) * up.transfers);
    const std::uint32_t chunks = mirrored ? up.chunks_of(u++) : down.chunks_of(d++);
    const Seat seat{.offset = offset, .length = costs.arrival_of(hop, chunks)};
    std::uint32_t& next = mirrored ? next_mirrored : next_plain;
    std::fill_n(seats_.begin() + next, chunks, seat);
    next += chunks;
    std::int64_t& longest = mirrored ? row.longest_mirrored : row.longest;
    longest = std::max(longest, seat.length);
    offset += busy(chunks);
  }
  TACOS_ASSERT(offset <= period_, "a period has room for the transfers of every link");
}

SlotRows::Slot SlotRows::begin(Row& row, bool mirrored, std::int64_t time) const {
  if (row.shared()) {
    const std::uint32_t slot = mirrored ? row.plain_seats : 0;
    const Seat& seat = seats_[row.first_seat + slot];
    row.phase = modulo((mirrored ? -time - seat.length : time) - seat.offset);
    return {.start = time, .number = slot};
  }
  const std::int64_t last = (row.count - 1) * row.spacing;
  std::int64_t& own = mirrored ? row.mirrored_phase : row.phase;
  std::int64_t& other = mirrored ? row.phase : row.mirrored_phase;
  own = modulo(time);
  other = modulo(-own - row.longest - last);
  return {.start = time, .number = mirrored ? row.count - 1 : 0};
}

SlotRows::Slot SlotRows::first_free_seat(std::uint32_t row,
                                         bool mirrored,
                                         std::int64_t ready,
                                         std::vector<Slot>& taken) const {
  const Row& of = rows_[row];
  Slot free{.start = std::numeric_limits<std::int64_t>::max()};
  const std::uint32_t end = mirrored ? of.count : of.plain_seats;
  for (std::uint32_t slot = mirrored ? of.plain_seats : 0; slot < end; ++slot) {
    const std::int64_t start = start_in(row, mirrored, slot, ready);
    if (holder_[of.first + slot] != kNone) {
      taken.push_back({.start = start, .number = slot});
    } else if (start < free.start) {
      free = {.start = start, .number = slot};
    }
  }
  TACOS_ASSERT(free.start != std::numeric_limits<std::int64_t>::max(),
               "a row has a seat for each of its transfers");
  std::erase_if(taken, [&](const Slot& one) { return one.start >= free.start; });
  return free;
}

void SlotRows::take_back() {
  for (Row& row : rows_) {
    row.phase = -1;
  }
  std::fill(holder_.begin(), holder_.end(), kNone);
}

}  // namespace tacos::trees
