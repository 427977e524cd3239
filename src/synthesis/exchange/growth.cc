// SPDX-License-Identifier: MIT
// A beam search. A routine under construction goes on with the move that can start first, and
// brings something to the most offsets: then everybody knows as much as can be when the next one
// starts. On a switch that is 1, 1, 2, 3, 5, 8, ... parts every half of a latency, the growth of
// the bound (bound/growth.cc), if everybody always sends to the one just beyond all that it will
// know of by then: the first of the moves that bring most. On other networks which of them is best
// shows later only, so several routines are kept, those that have reached most.
#include "synthesis/exchange/growth.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/parallel/cancel.h"

namespace tacos::exchange {
namespace {

/// Ways to go on with a routine.
constexpr std::size_t kMostBranches = 8;

class Growth {
 public:
  Growth(const Moves& moves,
         const Costs& costs,
         const Glance& glance,
         const GrowthOptions& options,
         Rng& rng)
      : moves_(moves),
        costs_(costs),
        glance_(glance),
        options_(options),
        elements_(moves.elements()),
        roles_(moves.roles()),
        rng_(rng) {}

  std::vector<Routine> run() {
    std::vector<State> beam{first_state()};
    std::vector<Routine> routines;
    std::vector<Branch> branches;
    while (!beam.empty() && routines.size() < options_.width) {
      check_cancel();
      branches.clear();
      for (std::uint32_t i = 0; i < beam.size(); ++i) {
        branch(beam[i], i, branches);
      }
      std::sort(branches.begin(), branches.end());
      beam = follow(beam, branches, routines);
    }
    return routines;
  }

 private:
  struct Sent {
    std::uint32_t move = 0;
    std::int64_t start = 0;
    std::int64_t arrival = 0;
  };
  /// What a move would do next.
  struct Option {
    /// When its links are free; -1 before that is known.
    std::int64_t free = -1;
    std::int64_t start = 0;
    std::size_t news = 0;
  };
  struct State {
    std::vector<std::int64_t> free;
    /// By place: when something gets there; kLongest before that is known.
    std::vector<std::int64_t> arrival;
    std::size_t reached = 0;
    std::vector<Sent> sent;
    /// By move.
    std::vector<Option> options;
  };
  /// One more entry of a routine.
  struct Branch {
    std::size_t reached = 0;
    std::int64_t start = 0;
    /// Moves that do the same; who has few goes first.
    std::size_t alternatives = 0;
    std::uint64_t chance = 0;
    std::uint32_t from = 0;
    std::uint32_t move = 0;

    friend bool operator<(const Branch& a, const Branch& b) {
      return std::tuple(b.reached, a.start, a.alternatives, a.chance) <
             std::tuple(a.reached, b.start, b.alternatives, b.chance);
    }
  };

  [[nodiscard]] State first_state() const {
    State state;
    state.free.assign(costs_.num_links(), 0);
    state.arrival.assign(std::size_t{elements_} * roles_ * roles_, kLongest);
    for (std::uint32_t owner = 0; owner < roles_; ++owner) {
      state.arrival[std::size_t{owner * roles_ + owner} * elements_] = 0;
    }
    state.reached = roles_;
    state.options.resize(moves_.size());
    return state;
  }

  /// Calls found(place, place there) for all that a move would bring to where they are not known.
  template <class Found>
  void for_news(const State& state, std::uint32_t number, const Found& found) const {
    const Move& move = moves_[number];
    const auto moved = moves_.all_moved(move.shift);
    for (std::uint32_t owner = 0; owner < roles_; ++owner) {
      const std::uint32_t here = (owner * roles_ + move.from) * elements_;
      const std::uint32_t there = (owner * roles_ + move.to) * elements_;
      for (std::uint32_t offset = 0; offset < elements_; ++offset) {
        if (state.arrival[here + offset] != kLongest &&
            state.arrival[there + moved[offset]] == kLongest) {
          found(here + offset, there + moved[offset]);
        }
      }
    }
  }

  /// Unless nothing has changed for it since the last entry.
  void look_at(const State& state, std::uint32_t move, Option& option) const {
    const std::int64_t free = glance_.start(move, state.free);
    if (option.free == free && !state.sent.empty()) {
      const std::uint32_t changed = moves_[state.sent.back().move].to;
      if (moves_[move].from != changed && moves_[move].to != changed) {
        return;
      }
    }
    option = {.free = free, .start = kLongest, .news = 0};
    for_news(state, move, [&](std::uint32_t place, std::uint32_t /*there*/) {
      option.start = std::min(option.start, state.arrival[place]);
      option.news += state.arrival[place] <= free ? 1 : 0;
    });
    if (option.start <= free) {
      option.start = free;
      return;
    }
    // Not before there is something to send.
    for_news(state, move, [&](std::uint32_t place, std::uint32_t /*there*/) {
      option.news += state.arrival[place] <= option.start ? 1 : 0;
    });
  }

  void branch(State& state, std::uint32_t from, std::vector<Branch>& branches) {
    const std::size_t before = branches.size();
    std::int64_t first = kLongest;
    for (std::uint32_t move = 0; move < moves_.size(); ++move) {
      Option& option = state.options[move];
      look_at(state, move, option);
      if (option.start > first || option.start >= kLongest) {
        continue;
      }
      if (option.start < first) {
        first = option.start;
        branches.resize(before);
      }
      branches.push_back({.reached = state.reached + option.news,
                          .start = option.start,
                          .alternatives = moves_.alternatives(move).size(),
                          .chance = options_.in_order ? move : rng_.next(),
                          .from = from,
                          .move = move});
    }
    const auto mine = branches.begin() + static_cast<std::ptrdiff_t>(before);
    const std::size_t kept = std::min(kMostBranches, branches.size() - before);
    std::partial_sort(mine, mine + static_cast<std::ptrdiff_t>(kept), branches.end());
    branches.resize(before + kept);
  }

  /// Routines that are done leave the beam; of those that are alike one stays.
  [[nodiscard]] std::vector<State> follow(const std::vector<State>& beam,
                                          const std::vector<Branch>& branches,
                                          std::vector<Routine>& routines) const {
    std::vector<State> next;
    std::vector<std::uint64_t> marks;
    for (const Branch& branch : branches) {
      if (next.size() >= options_.width || routines.size() >= options_.width) {
        break;
      }
      State state = beam[branch.from];
      send(branch, state);
      const std::uint64_t mark = mark_of(state);
      if (std::find(marks.begin(), marks.end(), mark) != marks.end()) {
        continue;
      }
      marks.push_back(mark);
      if (state.reached == std::size_t{roles_} * moves_.num_reached()) {
        routines.push_back(plan_of(state));
      } else if (state.sent.back().arrival < kLongest) {
        next.push_back(std::move(state));
      }
    }
    return next;
  }

  void send(const Branch& branch, State& state) const {
    std::vector<std::uint32_t> brought;
    for_news(state, branch.move, [&](std::uint32_t place, std::uint32_t there) {
      if (state.arrival[place] <= branch.start) {
        brought.push_back(there);
      }
    });
    const auto parts = static_cast<std::uint32_t>(std::min<std::size_t>(
        options_.weight * brought.size(), std::size_t{moves_.num_reached()} * roles_));
    const std::int64_t arrival = glance_.take(branch.move, branch.start, parts, state.free);
    for (const std::uint32_t place : brought) {
      state.arrival[place] = arrival;
    }
    state.reached += brought.size();
    state.sent.push_back({.move = branch.move, .start = branch.start, .arrival = arrival});
  }

  /// Of what is known when.
  [[nodiscard]] static std::uint64_t mark_of(const State& state) {
    std::uint64_t mark = 0;
    for (std::size_t place = 0; place < state.arrival.size(); ++place) {
      mark = (mark ^ static_cast<std::uint64_t>(state.arrival[place])) * 0x9e3779b97f4a7c15U;
      mark ^= mark >> 32U;
    }
    return mark;
  }

  /// Its entries by arrival, so that what one can see is those before some other.
  [[nodiscard]] static Routine plan_of(const State& state) {
    std::vector<Sent> sent = state.sent;
    std::stable_sort(sent.begin(), sent.end(), [](const Sent& a, const Sent& b) {
      return a.arrival < b.arrival;
    });
    Routine routine;
    for (const Sent& one : sent) {
      const auto seen = std::partition_point(
          sent.begin(), sent.end(), [&](const Sent& other) { return other.arrival <= one.start; });
      routine.push_back(
          {.move = one.move, .seen = static_cast<std::uint32_t>(seen - sent.begin())});
    }
    return routine;
  }

  const Moves& moves_;
  const Costs& costs_;
  const Glance& glance_;
  GrowthOptions options_;
  std::uint32_t elements_;
  std::uint32_t roles_;
  Rng& rng_;
};

}  // namespace

std::vector<Routine> grow_routines(const Moves& moves,
                                   const Costs& costs,
                                   const Glance& glance,
                                   const GrowthOptions& options,
                                   Rng& rng) {
  return Growth(moves, costs, glance, options, rng).run();
}

}  // namespace tacos::exchange
