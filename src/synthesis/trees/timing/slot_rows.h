// SPDX-License-Identifier: MIT
// The slots of links in a period, and who has them.
//
// A link carries the same transfers in every period. A row has the slots of a link, or of a link
// and its twin. Uses come in two kinds, plain and mirrored: mirrored ones are over the twin, or
// have time run backwards, and take the mirror image of a slot: one that lasts from s to e is used
// from -e to -s.
//
// Where single chunks fit into the period all transfers of a link last equally long, so its period
// is cut into equal slots for either kind, and none is lost to gaps. Elsewhere slots are seats:
// chunks of one kind share a transfer, begin and end together, and each has one of its seats. Where
// a row begins in the period is decided by the first that uses it.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "base/assert.h"
#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/packing/packing.h"
#include "synthesis/trees/timing/link_loads.h"

namespace tacos::trees {

class SlotRows {
 public:
  /// Up to `sharing` chunks in a transfer, on direct links; where links mirror each other, a row
  /// for each pair of them.
  SlotRows(const Fabric& fabric,
           const HopCosts& costs,
           const Packing& packing,
           std::uint32_t sharing,
           bool mirrors);

  /// A slot of a row, and when it is used.
  struct Slot {
    std::int64_t start = 0;
    std::uint32_t number = 0;
  };

  [[nodiscard]] std::int64_t period() const { return period_; }
  /// From 0 up to the period.
  [[nodiscard]] std::int64_t modulo(std::int64_t time) const {
    const std::int64_t rest = time % period_;
    return rest < 0 ? rest + period_ : rest;
  }
  /// How long what uses a row is on its way, at most.
  [[nodiscard]] std::int64_t longest(std::uint32_t row, bool mirrored) const {
    return mirrored ? rows_[row].longest_mirrored : rows_[row].longest;
  }
  [[nodiscard]] std::int64_t length(std::uint32_t row, std::uint32_t slot) const {
    const Row& of = rows_[row];
    return of.shared() ? seats_[of.first_seat + slot].length : of.longest;
  }
  [[nodiscard]] std::uint32_t holder(std::uint32_t row, std::uint32_t slot) const {
    return holder_[rows_[row].first + slot];
  }
  void hold(std::uint32_t row, std::uint32_t slot, std::uint32_t item) {
    holder_[rows_[row].first + slot] = item;
  }
  /// When a slot can be used that begins at `time` or later.
  [[nodiscard]] std::int64_t start_in(std::uint32_t row,
                                      bool mirrored,
                                      std::uint32_t slot,
                                      std::int64_t time) const {
    const Row& of = rows_[row];
    const std::int64_t at =
        of.phase + (of.shared() ? seats_[of.first_seat + slot].offset : slot * of.spacing);
    return time + modulo((mirrored ? -at - length(row, slot) : at) - time);
  }
  /// The first free slot that begins at `ready` or later; `taken` becomes those that come sooner.
  [[nodiscard]] Slot first_free(std::uint32_t row,
                                bool mirrored,
                                std::int64_t ready,
                                std::vector<Slot>& taken) {
    taken.clear();
    Row& of = rows_[row];
    if (of.phase < 0) {
      return begin(of, mirrored, ready);
    }
    return of.shared() ? first_free_seat(row, mirrored, ready, taken)
                       : first_free_slot(of, mirrored, ready, taken);
  }
  /// As if nobody had come.
  void take_back();

 private:
  static constexpr std::uint32_t kNoSeats = std::numeric_limits<std::uint32_t>::max();

  struct Row {
    /// When slot 0 begins in the period, and when the mirror image of the last does; -1: undecided.
    std::int64_t phase = -1;
    std::int64_t mirrored_phase = 0;
    /// From a slot to the next, where they are equal.
    std::int64_t spacing = 0;
    std::int64_t longest = 0;
    std::int64_t longest_mirrored = 0;
    std::uint32_t count = 0;
    /// Of holders.
    std::uint32_t first = 0;
    /// Seats of plain uses come before those of mirrored ones.
    std::uint32_t first_seat = kNoSeats;
    std::uint32_t plain_seats = 0;

    [[nodiscard]] bool shared() const { return first_seat != kNoSeats; }
  };
  /// From the phase to its beginning, and until what it carries arrives.
  struct Seat {
    std::int64_t offset = 0;
    std::int64_t length = 0;
  };

  void add_seats(
      const HopCosts& costs, std::uint32_t hop, const LinkLoad& load, std::uint32_t most, Row& row);
  [[nodiscard]] Slot begin(Row& row, bool mirrored, std::int64_t time) const;
  [[nodiscard]] Slot first_free_seat(std::uint32_t row,
                                     bool mirrored,
                                     std::int64_t ready,
                                     std::vector<Slot>& taken) const;

  /// Looks at slots in the order in which they come.
  [[nodiscard]] Slot first_free_slot(const Row& row,
                                     bool mirrored,
                                     std::int64_t ready,
                                     std::vector<Slot>& taken) const {
    const std::int64_t since = modulo(ready - (mirrored ? row.mirrored_phase : row.phase));
    std::int64_t number = (since + row.spacing - 1) / row.spacing;
    std::int64_t base = ready - since;
    for (std::uint32_t tried = 0; tried <= row.count; ++tried, ++number) {
      if (number >= row.count) {
        number = 0;
        base += period_;
      }
      const Slot slot{
          .start = base + number * row.spacing,
          .number = static_cast<std::uint32_t>(mirrored ? row.count - 1 - number : number)};
      if (holder_[row.first + slot.number] == kNone) {
        return slot;
      }
      taken.push_back(slot);
    }
    TACOS_ASSERT(false, "a row has a slot for each of its transfers");
    return {};
  }

  std::int64_t period_;
  std::vector<Row> rows_;
  std::vector<Seat> seats_;
  /// By slot: the item that has it.
  std::vector<std::uint32_t> holder_;
};

}  // namespace tacos::trees
