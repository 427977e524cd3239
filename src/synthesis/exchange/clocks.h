// SPDX-License-Identifier: MIT
// What a routine takes: quickly, as one participant sees it, or exactly.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tacos/topology.h"

#include "base/csr.h"
#include "synthesis/exchange/costs.h"
#include "synthesis/exchange/moves.h"
#include "synthesis/exchange/routine.h"

namespace tacos::exchange {

/// Shorter routines are better; among equals those whose messages arrive sooner.
struct RoutineTime {
  std::int64_t end = 0;
  /// Of the arrivals of all entries.
  std::int64_t sum = 0;

  friend auto operator<=>(const RoutineTime&, const RoutineTime&) = default;
};

/// Routines that take longer are none: with them sums could leave 64 bits, and there is nothing to
/// gain where so much is sent.
inline constexpr std::int64_t kLongest = kMaxTime.ps >> 12U;

/// As element 0 sees it: what it sends, and what comes to it in the same move; where several
/// messages of a move take one link, they follow each other. Exact where all elements are alike and
/// only their own links are scarce. O(entries + needs).
class Glance {
 public:
  Glance(const Moves& moves, const Costs& costs);

  /// Nothing beyond `limit`.
  [[nodiscard]] std::optional<RoutineTime> time(std::span<const Entry> routine,
                                                const Cargo& cargo,
                                                std::int64_t limit);

  // For those who grow a routine.

  /// When a move could start at the earliest.
  [[nodiscard]] std::int64_t start(std::uint32_t move, std::span<const std::int64_t> free) const;
  /// Takes the links; when the last message of the move arrives.
  [[nodiscard]] std::int64_t take(std::uint32_t move,
                                  std::int64_t start,
                                  std::uint32_t parts,
                                  std::span<std::int64_t> free) const;

 private:
  /// A link of a message that element 0 sends or gets.
  struct Use {
    LinkId link;
    /// How many messages of the move take it.
    std::uint32_t copies = 1;
    /// From the start of the message until it gets there.
    std::int64_t head = 0;
  };

  const Moves& moves_;
  const Costs& costs_;
  Csr<Use> uses_;
  std::vector<std::int64_t> free_;
  std::vector<std::int64_t> arrival_;
};

/// Every message of every element. Entries take links in their order. O(entries x elements x (links
/// of a route + needs)).
class Clock {
 public:
  Clock(const Moves& moves, const Costs& costs) : moves_(moves), costs_(costs), links_(costs) {}

  /// Nothing beyond `limit`.
  [[nodiscard]] std::optional<RoutineTime> time(std::span<const Entry> routine,
                                                const Cargo& cargo,
                                                std::int64_t limit);
  /// When the message of an element sets out, in the routine that was timed last.
  [[nodiscard]] std::int64_t start(std::size_t entry, std::uint32_t element) const {
    return start_[entry * moves_.elements() + element];
  }

 private:
  const Moves& moves_;
  const Costs& costs_;
  LinkTimes links_;
  // By entry and element: when the message sets out, and when that of the other arrives.
  std::vector<std::int64_t> start_;
  std::vector<std::int64_t> arrival_;
};

}  // namespace tacos::exchange
