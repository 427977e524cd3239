// SPDX-License-Identifier: MIT
// A few trees that are good for some size of message are made: grown, always by the handover that
// arrives first, or a star. Then the best are changed at random, here and there, for as long as
// that helps: a participant gets its parts from someone else, by another route, or at another time.
#include "synthesis/exchange/rooted.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/numbers/rng.h"
#include "base/parallel/cancel.h"

namespace tacos::exchange {
namespace {

/// So many changes are tried on each of the best so many trees.
constexpr int kChanges = 2'000;
constexpr std::size_t kImproved = 2;

/// What a tree takes. Handovers take links in their order.
class TreeClock {
 public:
  TreeClock(const Hops& hops, const Costs& costs, Content content, std::uint32_t root)
      : hops_(hops),
        costs_(costs),
        content_(content),
        root_(root),
        links_(costs),
        weight_(hops.size()),
        arrival_(hops.size()) {}

  /// Nothing beyond `limit`, or where something is handed on before it is there.
  std::optional<RoutineTime> time(const Tree& tree, std::int64_t limit) {
    weigh(tree);
    links_.clear();
    std::fill(arrival_.begin(), arrival_.end(), kNever);
    arrival_[root_] = 0;
    start_.resize(tree.size());
    RoutineTime time;
    for (std::size_t i = 0; i < tree.size(); ++i) {
      const Handover& one = tree[i];
      if (arrival_[one.from] == kNever) {
        return std::nullopt;
      }
      const auto route = hops_.route(one.hop);
      start_[i] = links_.start(route, arrival_[one.from]);
      links_.take(route, start_[i], weight_[one.to]);
      const std::int64_t end = start_[i] + costs_.crossing(route, weight_[one.to]);
      if (end > limit) {
        return std::nullopt;
      }
      arrival_[one.to] = end;
      time.end = std::max(time.end, end);
      time.sum += end;
    }
    return time;
  }
  [[nodiscard]] const std::vector<std::int64_t>& starts() const { return start_; }

 private:
  static constexpr std::int64_t kNever = -1;

  /// How many parts everybody gets.
  void weigh(const Tree& tree) {
    std::fill(weight_.begin(), weight_.end(), 1);
    for (std::size_t i = tree.size(); i-- > 0 && content_ == Content::kPairs;) {
      weight_[tree[i].from] += weight_[tree[i].to];
    }
  }

  const Hops& hops_;
  const Costs& costs_;
  Content content_;
  std::uint32_t root_;
  LinkTimes links_;
  std::vector<std::uint32_t> weight_;
  std::vector<std::int64_t> arrival_;
  std::vector<std::int64_t> start_;
};

class TreeSearch {
 public:
  TreeSearch(
      const Hops& hops, const Costs& costs, Content content, std::uint32_t root, std::uint64_t seed)
      : hops_(hops),
        costs_(costs),
        content_(content),
        root_(root),
        clock_(hops, costs, content, root),
        rng_(seed) {}

  std::optional<FoundTree> run() {
    grow([](std::uint32_t) { return 1U; });
    if (content_ == Content::kPairs) {
      // As many for each as will be left if all go on as now.
      grow([this](std::uint32_t reached) { return 1 + (hops_.size() - reached) / (reached + 1); });
      make_star();
    }
    std::stable_sort(known_.begin(), known_.end(), [](const Known& a, const Known& b) {
      return a.time < b.time;
    });
    known_.resize(std::min(known_.size(), kImproved));
    for (Known& known : known_) {
      improve(known);
    }
    const auto best =
        std::min_element(known_.begin(), known_.end(), [](const Known& a, const Known& b) {
          return a.time < b.time;
        });
    if (best == known_.end()) {
      return std::nullopt;
    }
    const std::optional<RoutineTime> time = clock_.time(best->tree, kLongest);
    return FoundTree{.tree = best->tree, .start = clock_.starts(), .time = *time};
  }

 private:
  struct Known {
    Tree tree;
    RoutineTime time;
  };

  void consider(Tree tree) {
    if (tree.size() + 1 == hops_.size()) {
      if (const auto time = clock_.time(tree, kLongest)) {
        known_.push_back({.tree = std::move(tree), .time = *time});
      }
    }
  }

  /// The first handover of a participant that could arrive; of equal ones where routes are fewest.
  struct Offer {
    std::int64_t end = kLongest;
    std::size_t routes = 0;
    std::uint64_t chance = 0;
    Handover handover;

    [[nodiscard]] auto key() const { return std::tuple(end, routes, chance); }
  };

  /// `parts(reached)` is how many parts the next handover is taken to carry, ever fewer.
  template <class Parts>
  void grow(const Parts& parts) {
    LinkTimes links(costs_);
    std::vector<std::int64_t> arrival(hops_.size(), kLongest);
    arrival[root_] = 0;
    Tree tree;
    std::uint32_t carried = parts(1);
    const auto offer_of = [&](std::uint32_t from) {
      Offer best;
      for (std::uint32_t to = 0; to < hops_.size(); ++to) {
        const auto between = hops_.between(from, to);
        for (std::size_t i = 0; i < between.size() && arrival[to] == kLongest; ++i) {
          const auto route = hops_.route(between[i]);
          const Offer offer{
              .end = links.start(route, arrival[from]) + costs_.crossing(route, carried),
              .routes = between.size(),
              .chance = mix64(from, to),
              .handover = {.from = from, .to = to, .hop = between[i]}};
          best = offer.key() < best.key() ? offer : best;
        }
      }
      return best;
    };
    std::vector<Offer> offers{offer_of(root_)};
    while (tree.size() + 1 < hops_.size()) {
      check_cancel();
      // As time goes on offers get worse only, but for the smaller number of parts: who still has
      // the best after another look has the best of all.
      const auto best =
          std::min_element(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
            return a.key() < b.key();
          });
      if (best->end == kLongest) {
        return;
      }
      const Offer again = offer_of(best->handover.from);
      if (again.key() > best->key()) {
        *best = again;
        continue;
      }
      const Handover next = again.handover;
      const auto route = hops_.route(next.hop);
      links.take(route, links.start(route, arrival[next.from]), carried);
      arrival[next.to] = again.end;
      tree.push_back(next);
      carried = parts(static_cast<std::uint32_t>(tree.size()) + 1);
      offers.push_back(offer_of(next.to));
    }
    consider(std::move(tree));
  }

  void make_star() {
    Tree tree;
    for (std::uint32_t to = 0; to < hops_.size(); ++to) {
      if (const auto between = hops_.between(root_, to); !between.empty()) {
        tree.push_back({.from = root_, .to = to, .hop = between.front()});
      }
    }
    consider(std::move(tree));
  }

  void improve(Known& known) {
    Tree tree;
    for (int i = 0; i < kChanges; ++i) {
      check_cancel();
      tree = known.tree;
      do {
        change(tree);
      } while (rng_.below(3) == 0);
      const auto time = clock_.time(tree, known.time.end);
      if (time && *time <= known.time) {
        known.time = *time;
        std::swap(known.tree, tree);
      }
    }
  }

  void change(Tree& tree) {
    const auto size = static_cast<std::uint32_t>(tree.size());
    const std::uint32_t at = rng_.below(size);
    switch (rng_.below(4)) {
      case 0:
      case 1: {
        const std::uint32_t other = rng_.below(at + 1);
        hand_over(other == at ? root_ : tree[other].to, tree[at]);
        break;
      }
      case 2:
        hand_over(tree[at].from, tree[at]);
        break;
      default: {
        const Handover moved = tree[at];
        tree.erase(tree.begin() + at);
        tree.insert(tree.begin() + rng_.below(size), moved);
        break;
      }
    }
  }
  /// By any route, if there is one.
  void hand_over(std::uint32_t from, Handover& one) {
    if (const auto between = hops_.between(from, one.to); !between.empty()) {
      one.from = from;
      one.hop = between[rng_.below(static_cast<std::uint32_t>(between.size()))];
    }
  }

  const Hops& hops_;
  const Costs& costs_;
  Content content_;
  std::uint32_t root_;
  TreeClock clock_;
  Rng rng_;
  std::vector<Known> known_;
};

}  // namespace

std::optional<FoundTree> find_tree(
    const Hops& hops, const Costs& costs, Content content, std::uint32_t root, std::uint64_t seed) {
  return TreeSearch(hops, costs, content, root, seed).run();
}

Csr<std::uint32_t> reached_through(const Tree& tree, std::uint32_t participants) {
  std::vector<std::uint32_t> from(participants, kNone);
  for (const Handover& one : tree) {
    from[one.to] = one.from;
  }
  return {participants, [&](const auto& add) {
            for (std::uint32_t one = 0; one < participants; ++one) {
              for (std::uint32_t at = one; at != kNone; at = from[at]) {
                add(at, one);
              }
            }
          }};
}

}  // namespace tacos::exchange
