// SPDX-License-Identifier: MIT
// Load-balanced paths: minimum congestion routing by prices, in integers.
//
// Problem: one path for each message so that the fullest link has as little to do as possible. With
// messages cut finely enough this is maximum concurrent flow; with few chunks it is its integral
// version, so fractions of the relaxation are never made and never need to be rounded.
//
// Idea: a link's price grows exponentially with how full it is (Garg and Koenemann 2007; for
// integral paths Awerbuch et al. 1994). First the chunks of every pair are dealt out one round
// after the other, each round on one tree of cheapest paths per source under the prices of what was
// dealt before. Then sweeps: from each source a tree of cheapest paths, and a message moves to its
// path in that tree when this lowers the potential (the sum over links of the price paid for each
// message on it). The steeper the prices, the closer the potential is to the fullest link; so they
// start gentle, when much must move, and end steep.
//
// Invariant: a move is judged by what it does to the loads as they are now, not as they were when
// the tree was made. So within a sweep the potential only falls, whole trees of messages cannot
// swing back and forth, and no step size needs tuning.
//
// Cost: a sweep takes one Dijkstra per source and a walk along two paths per message:
// O(sources x links x log + messages x hops).
#include "synthesis/routing/path_balance.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/assert.h"
#include "base/rng.h"

namespace tacos {
namespace {

/// Fullness is counted in this many steps of the load of the fullest link.
constexpr std::uint64_t kFull = 4096;
/// Prices reach beyond the fullest link, for messages that would be added to it.
constexpr std::size_t kPrices = 2 * kFull;
constexpr std::uint64_t kPriceOfFull = std::uint64_t{1} << 26U;
constexpr std::uint64_t kHighestPrice = std::uint64_t{1} << 30U;
/// What the time on a link costs when nothing else is there: longer paths must pay.
constexpr std::uint64_t kPriceOfTime = std::uint64_t{1} << 10U;
/// Weights are times scaled to at most this.
constexpr std::int64_t kHeaviest = std::int64_t{1} << 16U;
/// Messages that are short against the latency share transfers, and then pay this part of theirs.
constexpr std::int64_t kShare = 16;
/// The price halves within these shares of the fullest load, sweep after sweep.
constexpr std::array<std::uint64_t, 4> kHalvings{kFull / 10, kFull / 20, kFull / 40, kFull / 80};

class PathBalancer {
 public:
  PathBalancer(const Topology& topology, const Demand& demand, const BalanceOptions& options)
      : topology_(topology), demand_(demand), options_(options) {
    const std::uint32_t links = topology.num_links();
    weight_.resize(links);
    time_.resize(links);
    Ticks longest{1};
    for (const Link& link : topology.links()) {
      longest = std::max(longest, link_cost(link, demand.chunk_bytes, options.link_model).arrival);
    }
    const auto scaled = [&](Ticks time) {
      // Both are below 2^63; what is lost by dropping low bits together is no more than a weight.
      std::int64_t ps = time.ps;
      std::int64_t most = longest.ps;
      for (; most > kMostPs; most /= 2) {
        ps /= 2;
      }
      return static_cast<std::uint64_t>(std::max<std::int64_t>(1, ps * kHeaviest / most));
    };
    for (std::uint32_t link = 0; link < links; ++link) {
      const LinkCost cost =
          link_cost(topology.link(LinkId(link)), demand.chunk_bytes, options.link_model);
      const std::int64_t bare =
          serialization_time(demand.chunk_bytes, topology.link(LinkId(link)).bandwidth).ps;
      weight_[link] = scaled(std::min(cost.busy, Ticks{bare + bare / kShare}));
      time_[link] = scaled(cost.arrival);
    }
    load_.assign(links, 0);
    stamp_.assign(links, 0);
    first_.assign(demand.num_messages(), 0);
    length_.assign(demand.num_messages(), 0);
    group_sources();
  }

  Paths run() {
    // Shortest paths, emptier ones among equals.
    price_.resize(kPrices);
    for (std::size_t i = 0; i < kPrices; ++i) {
      price_[i] = options_.sweeps == 0 ? i * kPriceOfTime / (kPrices * kPrices) : 0;
    }
    if (options_.sweeps > 0) {
      set_prices(kHalvings[0]);
    }
    for (std::uint32_t round = 0; round < demand_.chunks_per_pair; ++round) {
      for (std::uint32_t group = 0; group < num_groups(); ++group) {
        deal_out(group, round);
      }
    }
    for (std::uint32_t sweep = 0; sweep < options_.sweeps; ++sweep) {
      const std::size_t stage = sweep * kHalvings.size() / options_.sweeps;
      set_prices(kHalvings[stage]);
      if (!reconsider_all(sweep) && stage + 1 == kHalvings.size()) {
        break;
      }
    }
    return take();
  }

 private:
  static constexpr std::int64_t kMostPs = std::int64_t{1} << 46U;

  [[nodiscard]] std::uint32_t num_groups() const {
    return static_cast<std::uint32_t>(group_.size() - 1);
  }

  void group_sources() {
    for (std::uint32_t pair = 0; pair < demand_.pairs.size(); ++pair) {
      if (pair == 0 || demand_.pairs[pair].from != demand_.pairs[pair - 1].from) {
        group_.push_back(pair);
      }
    }
    group_.push_back(static_cast<std::uint32_t>(demand_.pairs.size()));
  }

  /// Prices that halve `halving` steps below the fullest link, and again below that.
  void set_prices(std::uint64_t halving) {
    // 2^-1/h is about 1 - 1/c for c = h / ln 2; ten more bits make up for the truncation.
    constexpr std::uint64_t kLn2Percent = 69;
    const std::uint64_t c = halving * 100 / kLn2Percent + 1;
    std::uint64_t price = kPriceOfFull << 10U;
    for (std::size_t i = kFull; i-- > 0;) {
      price -= price / c;
      price_[i] = price >> 10U;
    }
    price = kPriceOfFull << 10U;
    for (std::size_t i = kFull; i < kPrices; ++i) {
      price_[i] = std::min(price >> 10U, kHighestPrice);
      price = price_[i] == kHighestPrice ? price : price + price / c;
    }
    fullest_ = std::max<std::uint64_t>(1, *std::max_element(load_.begin(), load_.end()));
  }

  /// What a message pays on a link that has `load` with it.
  [[nodiscard]] std::uint64_t price(std::size_t link, std::uint64_t load) const {
    const std::uint64_t fullness = std::min<std::uint64_t>(load * kFull / fullest_, kPrices - 1);
    return weight_[link] * price_[fullness] + time_[link] * kPriceOfTime;
  }

  void add_load(LinkId link) {
    load_[link.index()] += weight_[link.index()];
    fullest_ = std::max(fullest_, load_[link.index()]);
  }

  /// The tree of cheapest paths from the source of a group.
  void search(NodeId source) {
    constexpr std::uint64_t kFar = ~std::uint64_t{0};
    distance_.assign(topology_.num_nodes(), kFar);
    link_to_.resize(topology_.num_nodes());
    distance_[source.index()] = 0;
    heap_.clear();
    heap_.emplace_back(0, source.value());
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const auto [d, node] = heap_.back();
      heap_.pop_back();
      if (d > distance_[node]) {
        continue;
      }
      for (const LinkId id : topology_.out_links(NodeId(node))) {
        const std::uint32_t next = topology_.link(id).dst.value();
        const std::uint64_t via = d + price(id.index(), load_[id.index()] + weight_[id.index()]);
        if (via < distance_[next]) {
          distance_[next] = via;
          link_to_[next] = id;
          heap_.emplace_back(via, next);
          std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
        }
      }
    }
  }

  /// The path of the tree, backwards, into path_.
  void walk_back(const Pair& pair) {
    path_.clear();
    for (NodeId node = pair.to; node != pair.from;) {
      TACOS_ASSERT(path_.size() < topology_.num_nodes(), "every destination is reachable");
      path_.push_back(link_to_[node.index()]);
      node = topology_.link(path_.back()).src;
    }
  }

  void deal_out(std::uint32_t group, std::uint32_t round) {
    search(demand_.pairs[group_[group]].from);
    for (std::uint32_t pair = group_[group]; pair < group_[group + 1]; ++pair) {
      walk_back(demand_.pairs[pair]);
      for (const LinkId link : path_) {
        add_load(link);
      }
      store(pair * demand_.chunks_per_pair + round);
    }
  }

  bool reconsider_all(std::uint32_t sweep) {
    bool moved = false;
    const std::uint32_t begin =
        Rng(mix64(options_.seed, sweep)).below(static_cast<std::uint32_t>(num_groups()));
    for (std::uint32_t i = 0; i < num_groups(); ++i) {
      const std::uint32_t group = (begin + i) % num_groups();
      search(demand_.pairs[group_[group]].from);
      for (std::uint32_t pair = group_[group]; pair < group_[group + 1]; ++pair) {
        walk_back(demand_.pairs[pair]);
        for (std::uint32_t chunk = 0; chunk < demand_.chunks_per_pair; ++chunk) {
          moved = reconsider(pair * demand_.chunks_per_pair + chunk) || moved;
        }
      }
    }
    return moved;
  }

  /// Moves the message to path_ if that lowers the potential.
  bool reconsider(std::uint32_t message) {
    ++stamp_now_;
    std::uint64_t saved = 0;
    for (std::uint32_t i = 0; i < length_[message]; ++i) {
      const std::size_t link = arena_[first_[message] + i].index();
      stamp_[link] = stamp_now_;
      saved += price(link, load_[link]);
    }
    std::uint64_t paid = 0;
    for (const LinkId id : path_) {
      const std::size_t link = id.index();
      if (stamp_[link] == stamp_now_) {
        saved -= price(link, load_[link]);
      } else {
        paid += price(link, load_[link] + weight_[link]);
      }
    }
    if (paid >= saved) {
      return false;
    }
    for (std::uint32_t i = 0; i < length_[message]; ++i) {
      const std::size_t link = arena_[first_[message] + i].index();
      load_[link] -= weight_[link];
    }
    for (const LinkId link : path_) {
      load_[link.index()] += weight_[link.index()];
    }
    store(message);
    return true;
  }

  /// Keeps path_ as the path of the message; in its old place when that is long enough.
  void store(std::uint32_t message) {
    const auto length = static_cast<std::uint32_t>(path_.size());
    if (length > length_[message]) {
      first_[message] = static_cast<std::uint32_t>(arena_.size());
      arena_.resize(arena_.size() + length);
      TACOS_ASSERT(arena_.size() <= ~std::uint32_t{0}, "paths have fewer than 2^32 hops in all");
    }
    length_[message] = length;
    std::reverse_copy(path_.begin(), path_.end(), arena_.begin() + first_[message]);
  }

  Paths take() {
    Paths paths;
    paths.first.reserve(first_.size() + 1);
    for (std::uint32_t message = 0; message < first_.size(); ++message) {
      const auto begin = arena_.begin() + first_[message];
      paths.links.insert(paths.links.end(), begin, begin + length_[message]);
      paths.first.push_back(static_cast<std::uint32_t>(paths.links.size()));
    }
    return paths;
  }

  const Topology& topology_;
  const Demand& demand_;
  const BalanceOptions options_;
  /// First pair of each source, plus an end.
  std::vector<std::uint32_t> group_;
  /// Of each link: what a message adds to its load, and how long it takes; scaled.
  std::vector<std::uint64_t> weight_;
  std::vector<std::uint64_t> time_;
  std::vector<std::uint64_t> load_;
  std::uint64_t fullest_ = 1;
  /// By fullness.
  std::vector<std::uint64_t> price_;

  // Paths so far. Longer ones are appended; what they leave behind is dropped at the end.
  std::vector<std::uint32_t> first_;
  std::vector<std::uint32_t> length_;
  std::vector<LinkId> arena_;

  // Of the search and the move under way.
  std::vector<std::uint64_t> distance_;
  std::vector<LinkId> link_to_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> heap_;
  std::vector<LinkId> path_;
  std::vector<std::uint32_t> stamp_;
  std::uint32_t stamp_now_ = 0;
};

}  // namespace

void Paths::reverse_each() {
  for (std::size_t message = 0; message + 1 < first.size(); ++message) {
    std::reverse(links.begin() + first[message], links.begin() + first[message + 1]);
  }
}

Paths balance_paths(const Topology& topology, const Demand& demand, const BalanceOptions& options) {
  return PathBalancer(topology, demand, options).run();
}

}  // namespace tacos
