// SPDX-License-Identifier: MIT
// A routine of an exchange: which moves are made one after the other, and who carries what.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/exchange/moves.h"

namespace tacos::exchange {

/// No participant, no entry.
inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// All of a role make a move, and send along what they have themselves and what the first `seen`
/// entries of the routine brought them, as far as no entry before has brought it there.
struct Entry {
  std::uint32_t move = 0;
  std::uint32_t seen = 0;

  friend bool operator==(const Entry&, const Entry&) = default;
};
using Routine = std::vector<Entry>;

/// Other entries see what they saw before.
void erase_entry(Routine& routine, std::uint32_t at);
void insert_entry(Routine& routine, std::uint32_t at, const Entry& entry);

/// What participants have for each other.
enum class Content {
  kSame,   ///< one part for everybody: All-Gather
  kPairs,  ///< a part for each: All-to-All
};

/// Who carries what in a routine. As all elements do the same, that is said of what belongs to
/// element 0: a *place* is a role of an owner there, and how far its parts have come: to which role
/// of which element. The places of an owner are a tree, by the entries that parts take on their
/// way. O(entries x places).
class Cargo {
 public:
  Cargo(const Moves& moves, Content content);

  /// Whether the routine brings everything wherever moves lead. If not, nothing else is known.
  [[nodiscard]] bool load(std::span<const Entry> routine);

  // Of the routine that was loaded last.

  /// How many parts a message of an entry carries, fewer than participants x roles; one that
  /// carries none is no message.
  [[nodiscard]] std::uint32_t num_parts(std::size_t entry) const { return parts_[entry]; }
  /// The places that an entry brings parts to.
  [[nodiscard]] std::span<const std::uint32_t> brought(std::size_t entry) const {
    return std::span(reached_).subspan(first_[entry], first_[entry + 1] - first_[entry]);
  }
  /// The entries that bring what an entry passes on.
  [[nodiscard]] std::span<const std::uint32_t> needs(std::size_t entry) const {
    return std::span(needs_).subspan(first_need_[entry],
                                     first_need_[entry + 1] - first_need_[entry]);
  }
  /// The places that parts at a place go on to, and itself.
  [[nodiscard]] Csr<std::uint32_t> beyond() const;

  /// Of a place: the role of the owner, and where it is.
  [[nodiscard]] std::uint32_t owner_role(std::uint32_t place) const {
    return place / (moves_.elements() * moves_.roles());
  }
  [[nodiscard]] std::uint32_t role(std::uint32_t place) const {
    return place / moves_.elements() % moves_.roles();
  }
  [[nodiscard]] std::uint32_t offset(std::uint32_t place) const {
    return place % moves_.elements();
  }

 private:
  [[nodiscard]] bool deal_out(std::span<const Entry> routine);
  void weigh(std::size_t entries);
  void find_needs(std::size_t entries);

  const Moves& moves_;
  Content content_;
  std::uint32_t elements_;
  std::uint32_t roles_;
  /// Places in the order in which they are reached; those of entry k end at first_[k + 1].
  std::vector<std::uint32_t> reached_;
  std::vector<std::uint32_t> first_;
  /// By owner and role: offsets in the order in which they are reached, and how many.
  std::vector<std::uint32_t> offsets_;
  std::vector<std::uint32_t> num_offsets_;
  // By place.
  std::vector<std::uint32_t> before_;
  std::vector<std::uint32_t> by_entry_;
  std::vector<std::uint32_t> weight_;
  // By entry.
  std::vector<std::uint32_t> parts_;
  std::vector<std::uint32_t> first_need_;
  std::vector<std::uint32_t> marked_;
  std::vector<std::uint32_t> needs_;
};

}  // namespace tacos::exchange
