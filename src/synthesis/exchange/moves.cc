// SPDX-License-Identifier: MIT
#include "synthesis/exchange/moves.h"

#include <algorithm>

namespace tacos::exchange {

Moves::Moves(const Hops& hops, const Layout& layout, std::size_t axes)
    : hops_(hops),
      layout_(layout),
      axes_(axes),
      elements_(layout.group.size()),
      sums_(std::size_t{elements_} * elements_),
      negative_(elements_) {
  for (std::uint32_t shift = 0; shift < elements_; ++shift) {
    negative_[shift] = layout.group.negate(shift);
    for (std::uint32_t element = 0; element < elements_; ++element) {
      sums_[std::size_t{shift} * elements_ + element] = layout.group.add(element, shift);
    }
  }
  const std::uint32_t shifts = layout.num_within(axes);
  for (std::uint32_t from = 0; from < layout.roles; ++from) {
    for (std::uint32_t to = 0; to < layout.roles; ++to) {
      for (std::uint32_t shift = 0; shift < elements_; ++shift) {
        if (shift < shifts) {
          add_moves(from, to, shift);
        }
        between_.end_row();
      }
    }
  }
  find_reach();
}

void Moves::add_moves(std::uint32_t from, std::uint32_t to, std::uint32_t shift) {
  const auto hops_of = [&](std::uint32_t element) {
    return hops_.between(layout_.participant[from * elements_ + element],
                         layout_.participant[to * elements_ + add(element, shift)]);
  };
  std::size_t most = 0;
  std::size_t least = kMostAlternatives;
  for (std::uint32_t element = 0; element < elements_; ++element) {
    most = std::max(most, hops_of(element).size());
    least = std::min(least, hops_of(element).size());
  }
  are_alike_ = are_alike_ && least == most;
  if (least == 0) {
    return;
  }
  for (std::uint32_t alternative = 0; alternative < most; ++alternative) {
    between_.push_back(size());
    moves_.push_back({.from = from, .to = to, .shift = shift, .alternative = alternative});
    for (std::uint32_t element = 0; element < elements_; ++element) {
      const auto hops = hops_of(element);
      hop_of_.push_back(hops[std::min<std::size_t>(alternative, hops.size() - 1)]);
    }
  }
}

void Moves::find_reach() {
  for (std::uint32_t role = 0; role < roles(); ++role) {
    std::vector<bool> known(layout_.participant.size(), false);
    std::vector<std::uint32_t> reached{role * elements_};
    known[reached.front()] = true;
    for (std::size_t next = 0; next < reached.size(); ++next) {
      for (const Move& move : moves_) {
        const std::uint32_t to = move.to * elements_ + add(reached[next] % elements_, move.shift);
        if (reached[next] / elements_ == move.from && !known[to]) {
          known[to] = true;
          reached.push_back(to);
        }
      }
    }
    const auto count = static_cast<std::uint32_t>(reached.size());
    num_reached_ = role == 0 || count == num_reached_ ? count : 0;
    if (num_reached_ == 0) {
      return;
    }
  }
}

}  // namespace tacos::exchange
