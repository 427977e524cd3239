// SPDX-License-Identifier: MIT
// What participants can do at once: all of one role send to those of some role so much further.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/ids.h"

#include "base/csr.h"
#include "synthesis/exchange/hops.h"
#include "synthesis/exchange/layout.h"

namespace tacos::exchange {

struct Move {
  /// Roles.
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::uint32_t shift = 0;
  /// Where several routes lead there, which of them: 0 is the fastest.
  std::uint32_t alternative = 0;
};

/// O(participants^2 x alternatives), once.
class Moves {
 public:
  /// Those that change none but the first `axes` coordinates.
  Moves(const Hops& hops, const Layout& layout, std::size_t axes);

  [[nodiscard]] const Layout& layout() const { return layout_; }
  [[nodiscard]] std::uint32_t elements() const { return elements_; }
  [[nodiscard]] std::uint32_t roles() const { return layout_.roles; }
  [[nodiscard]] std::size_t axes() const { return axes_; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(moves_.size()); }
  [[nodiscard]] const Move& operator[](std::uint32_t move) const { return moves_[move]; }
  /// Of the message that an element sends.
  [[nodiscard]] std::span<const LinkId> route(std::uint32_t move, std::uint32_t element) const {
    return hops_.route(hop_of_[std::size_t{move} * elements_ + element]);
  }
  /// The moves of one role to another this far.
  [[nodiscard]] std::span<const std::uint32_t> between(std::uint32_t from,
                                                       std::uint32_t to,
                                                       std::uint32_t shift) const {
    return between_[(std::size_t{from} * roles() + to) * elements_ + shift];
  }
  /// Those that lead where a move leads, itself among them.
  [[nodiscard]] std::span<const std::uint32_t> alternatives(std::uint32_t move) const {
    return between(moves_[move].from, moves_[move].to, moves_[move].shift);
  }
  /// By element: the one so much further.
  [[nodiscard]] std::span<const std::uint32_t> all_moved(std::uint32_t shift) const {
    return std::span(sums_).subspan(std::size_t{shift} * elements_, elements_);
  }
  [[nodiscard]] std::uint32_t add(std::uint32_t element, std::uint32_t shift) const {
    return sums_[std::size_t{shift} * elements_ + element];
  }
  [[nodiscard]] std::uint32_t subtract(std::uint32_t element, std::uint32_t shift) const {
    return add(element, negative_[shift]);
  }
  /// Participants that they lead to from any; 0 when from one there are fewer than from another.
  [[nodiscard]] std::uint32_t num_reached() const { return num_reached_; }
  /// Whether all elements have as many hops to those that they could make a move to.
  [[nodiscard]] bool are_alike() const { return are_alike_; }

 private:
  void find_reach();
  void add_moves(std::uint32_t from, std::uint32_t to, std::uint32_t shift);

  const Hops& hops_;
  const Layout& layout_;
  std::size_t axes_;
  std::uint32_t elements_;
  std::vector<std::uint32_t> sums_;
  std::vector<std::uint32_t> negative_;
  std::vector<Move> moves_;
  /// By move and element.
  std::vector<std::uint32_t> hop_of_;
  Csr<std::uint32_t> between_;
  std::uint32_t num_reached_ = 0;
  bool are_alike_ = true;
};

}  // namespace tacos::exchange
