// SPDX-License-Identifier: MIT
// Recursive doubling with other radices (Ruefenacht, Bull and Booth, "Generalisation of recursive
// doubling for AllReduce", 2017). With r - 1 ports an NPU can tell r - 1 others at once what it has
// summed up, and what r NPUs have is r times as much after one round. What is sent must not change
// before it has arrived, so everybody gets what it is told in a round at one time, no sooner than
// all that it sends has arrived.
//
// Where a length is no product of radices, numbers are missing: of 8 in two rounds of radix 3, the
// last group of the first round has two members, and two columns of the second are complete. Those
// of the third column get the sum of the last group from one of its members, before that makes its
// own round: half a latency later than 9 would take, and half a latency sooner than three rounds of
// two.
#include "synthesis/exchange/sums.h"

#include <algorithm>
#include <utility>

#include "synthesis/exchange/clocks.h"
#include "synthesis/exchange/digits.h"

namespace tacos::exchange {
namespace {

/// Beyond these nobody has ports.
constexpr std::uint32_t kMostRadix = 5;

class Rounds {
 public:
  Rounds(const Hops& hops, const Layout& layout, const Costs& costs)
      : hops_(hops),
        layout_(layout),
        costs_(costs),
        elements_(layout.group.size()),
        links_(costs),
        ready_(elements_),
        sent_until_(elements_),
        given_(elements_),
        taken_by_(costs.num_links()) {}

  /// Nothing when a round cannot be made, or takes as long as `limit`.
  std::optional<FoundSums> run(const std::vector<Digit>& rounds, std::int64_t limit) {
    links_.clear();
    std::fill(ready_.begin(), ready_.end(), 0);
    messages_.clear();
    for (const Digit& round : rounds) {
      if (!make(round)) {
        return std::nullopt;
      }
      if (*std::max_element(ready_.begin(), ready_.end()) >= limit) {
        return std::nullopt;
      }
    }
    return FoundSums{.messages = messages_, .end = *std::max_element(ready_.begin(), ready_.end())};
  }

 private:
  struct Planned {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t hop = 0;
  };

  /// The element of a line, by its coordinate there.
  [[nodiscard]] std::uint32_t at(const Digit& round,
                                 std::uint32_t element,
                                 std::uint32_t coordinate) const {
    const std::uint32_t stride = layout_.group.stride(round.axis);
    return element + (coordinate - layout_.group.digit(element, round.axis)) * stride;
  }

  bool make(const Digit& round) {
    std::fill(sent_until_.begin(), sent_until_.end(), 0);
    std::fill(given_.begin(), given_.end(), 0);
    // Columns that lack somebody first: those that help them wait for that.
    for (const bool complete : {false, true}) {
      for (std::uint32_t element = 0; element < elements_; ++element) {
        const std::uint32_t coordinate = layout_.group.digit(element, round.axis);
        const bool first = coordinate / round.stride % round.radix == 0;
        if (first && is_complete(round, coordinate) == complete && !exchange(round, element)) {
          return false;
        }
      }
    }
    return true;
  }
  [[nodiscard]] std::uint32_t length(const Digit& round) const {
    return layout_.group.lengths()[round.axis];
  }
  /// How many groups there are of those whose sums a column brings together, and how many members
  /// the column has.
  [[nodiscard]] std::uint32_t count(const Digit& round, std::uint32_t first) const {
    const std::uint32_t left = length(round) - first;
    return std::min(round.radix, (left + round.stride - 1) / round.stride);
  }
  [[nodiscard]] std::uint32_t num_groups(const Digit& round, std::uint32_t coordinate) const {
    return count(round, coordinate - coordinate % round.stride);
  }
  [[nodiscard]] bool is_complete(const Digit& round, std::uint32_t coordinate) const {
    return count(round, coordinate) == num_groups(round, coordinate);
  }

  /// Those that differ from `element` in the digit alone tell each other, and who is missing is
  /// told for.
  bool exchange(const Digit& round, std::uint32_t element) {
    const std::uint32_t coordinate = layout_.group.digit(element, round.axis);
    const std::uint32_t members = count(round, coordinate);
    const std::uint32_t groups = num_groups(round, coordinate);
    ++column_;
    planned_.clear();
    const auto member = [&](std::uint32_t i) {
      return at(round, element, coordinate + i * round.stride);
    };
    for (std::uint32_t distance = 1; distance < members; ++distance) {
      for (std::uint32_t i = 0; i < members; ++i) {
        if (!routine(member(i), member((i + distance) % members), distance - 1)) {
          return false;
        }
      }
    }
    for (std::uint32_t group = members; group < groups; ++group) {
      for (std::uint32_t i = 0; i < members; ++i) {
        const std::uint32_t low = coordinate - coordinate % round.stride + group * round.stride;
        if (!routine(helper(round, element, low), member(i), i)) {
          return false;
        }
      }
    }
    return send();
  }

  /// Of the members of a group that is not full, who has helped least so far.
  std::uint32_t helper(const Digit& round, std::uint32_t element, std::uint32_t low) {
    std::uint32_t best = at(round, element, low);
    for (std::uint32_t c = low; c < std::min(low + round.stride, length(round)); ++c) {
      if (given_[at(round, element, c)] < given_[best]) {
        best = at(round, element, c);
      }
    }
    ++given_[best];
    return best;
  }

  /// By a route that shares no link with others of the column, the `preferred` one if possible.
  bool routine(std::uint32_t from, std::uint32_t to, std::uint32_t preferred) {
    const auto between = hops_.between(layout_.participant[from], layout_.participant[to]);
    for (std::size_t i = 0; i < between.size(); ++i) {
      const std::uint32_t hop = between[(preferred + i) % between.size()];
      const auto route = hops_.route(hop);
      const bool taken = std::any_of(route.begin(), route.end(), [&](LinkId link) {
        return taken_by_[link.index()] == column_;
      });
      if (!taken) {
        for (const LinkId link : route) {
          taken_by_[link.index()] = column_;
        }
        planned_.push_back({.from = from, .to = to, .hop = hop});
        return true;
      }
    }
    return false;
  }

  /// All that was planned, so that it arrives at one time, and no sooner than those that get it
  /// have got what came before and are done with sending it.
  bool send() {
    std::int64_t end = 0;
    for (const Planned& one : planned_) {
      const auto route = hops_.route(one.hop);
      end = std::max({end,
                      ready_[one.to],
                      sent_until_[one.to],
                      links_.start(route, ready_[one.from]) + costs_.crossing(route, 1)});
    }
    if (end > kLongest) {
      return false;
    }
    for (const Planned& one : planned_) {
      const auto route = hops_.route(one.hop);
      const std::int64_t start = end - costs_.crossing(route, 1);
      links_.take(route, start, 1);
      sent_until_[one.from] = std::max(sent_until_[one.from], end);
      messages_.push_back({.from = layout_.participant[one.from],
                           .to = layout_.participant[one.to],
                           .hop = one.hop,
                           .end = end});
    }
    for (const Planned& one : planned_) {
      ready_[one.to] = end;
    }
    return true;
  }

  const Hops& hops_;
  const Layout& layout_;
  const Costs& costs_;
  std::uint32_t elements_;
  LinkTimes links_;
  // By element: since when it has its sum, until when it sends it, and how often it helped.
  std::vector<std::int64_t> ready_;
  std::vector<std::int64_t> sent_until_;
  std::vector<std::uint32_t> given_;
  std::vector<SumMessage> messages_;
  // Of the column in question: its messages, and the links that they take.
  std::uint32_t column_ = 0;
  std::vector<std::uint32_t> taken_by_;
  std::vector<Planned> planned_;
};

}  // namespace

std::optional<FoundSums> find_sums(const Hops& hops,
                                   const Layout& layout,
                                   const Costs& costs,
                                   std::size_t first_axis,
                                   std::int64_t limit) {
  const auto lengths = layout.group.lengths().subspan(first_axis);
  std::vector<std::uint32_t> most_radix;
  for (std::size_t axis = first_axis; axis < layout.group.num_digits(); ++axis) {
    const std::uint32_t next = layout.participant[layout.group.stride(axis)];
    const std::size_t ports = hops.between(layout.participant[0], next).size();
    most_radix.push_back(std::min(kMostRadix, static_cast<std::uint32_t>(ports) + 1));
  }
  Rounds rounds(hops, layout, costs);
  std::optional<FoundSums> best;
  std::vector<Digit> list;
  for_each_digit_order(lengths, most_radix, [&](std::span<const Digit> digits) {
    list.assign(digits.begin(), digits.end());
    for (Digit& digit : list) {
      digit.axis += static_cast<std::uint32_t>(first_axis);
    }
    if (auto made = rounds.run(list, best ? best->end : limit)) {
      best = std::move(made);
    }
  });
  return best;
}

}  // namespace tacos::exchange
