// SPDX-License-Identifier: MIT
// A schedule as the transfers of one round and how often it is repeated.
//
// The first round moves some of the chunks. Every later round does the same with other chunks, each
// one period after the one before: a *timetable*. An entry has a *place* in the period and a *lap*:
// in the first round its transfer starts lap periods and place after the beginning, so a round may
// take many periods, and its transfers meet those of the rounds before and after it on the links.
// Entries with the same place and link *share* a transfer: in each period it carries the chunks of
// all of them that have a round then, each of its own round.
// Plain data: what the links cost, and whether the rounds keep out of each other's way, is for
// others to check (src/verify/periodic_proof.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/units.h"

#include "schedule/patterns/pattern.h"
#include "schedule/source.h"

namespace tacos {

struct TimetableEntry {
  /// Below the period.
  Ticks place;
  std::uint32_t lap = 0;
  /// Of the first round.
  std::uint32_t chunk = 0;
  /// The first of its route.
  std::uint32_t link = 0;
  Op op = Op::kCopy;
  /// How many of Timetable::further_links its route has; those before are of earlier entries.
  std::uint8_t num_further = 0;

  friend bool operator==(const TimetableEntry&, const TimetableEntry&) = default;
};

struct Timetable {
  /// From a round to the next.
  Ticks period{1};
  std::uint32_t rounds = 1;
  /// By how much chunk ids grow from a round to the next. Chunk ids come in blocks of rounds *
  /// stride; those of the first round are the first `stride` of each.
  std::uint32_t stride = 1;
  /// In order of (place, link, chunk). Those that share a transfer have one link and the same op.
  std::vector<TimetableEntry> entries = {};
  std::vector<std::uint32_t> further_links = {};

  friend bool operator==(const Timetable&, const Timetable&) = default;
};

/// Whether an entry shares its transfer with the one before it.
[[nodiscard]] inline bool shares(const TimetableEntry& before, const TimetableEntry& entry) {
  return before.place == entry.place && before.link == entry.link;
}

/// How many transfers all rounds have together.
[[nodiscard]] std::uint64_t count_transfers(const Timetable& timetable);

/// Appends the payload of a PERD section (docs/schedule-format.md).
void encode_timetable(const Timetable& timetable, std::vector<std::byte>& out);
/// Fails on numbers that do not fit together; what it returns can be expanded, within kMaxTime.
[[nodiscard]] Result<Timetable> decode_timetable(std::span<const std::byte> payload,
                                                 const PatternLimits& limits);

/// Of the encoded timetable.
[[nodiscard]] std::uint64_t timetable_hash(const Timetable& timetable);
/// Lists the transfers of the first round; the timetable must outlive it.
[[nodiscard]] std::unique_ptr<TransferCursor> first_round_cursor(const Timetable& timetable);
/// Lists the transfers of all rounds as they are asked for.
[[nodiscard]] std::shared_ptr<const TransferSource> make_periodic_source(Timetable timetable);
/// The same as a schedule; its totals but for the collective time follow from the timetable.
[[nodiscard]] Schedule make_periodic_schedule(Timetable timetable, Ticks collective_time);

}  // namespace tacos
