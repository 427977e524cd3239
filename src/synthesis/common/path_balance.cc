// SPDX-License-Identifier: MIT
// Load-balanced paths: minimum congestion routing by prices, in integers.
//
// Problem: one path for each message so that the fullest link has as little to do as possible. With
// messages cut finely enough this is maximum concurrent flow; with few chunks it is its integral
// version, so fractions of the relaxation are never made and never need to be rounded.
//
// Idea: a link's price grows exponentially with how full it is (link_prices.h; for integral paths
// Awerbuch et al. 1994). First the chunks of every pair are dealt out one round
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
#include "synthesis/common/path_balance.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/assert.h"
#include "base/numbers/rng.h"
#include "base/parallel/cancel.h"
#include "synthesis/common/link_prices.h"

namespace tacos {
namespace {

class PathBalancer {
 public:
  PathBalancer(const Topology& topology, const Demand& demand, const BalanceOptions& options)
      : topology_(topology),
        demand_(demand),
        options_(options),
        prices_(topology, demand.chunk_bytes, options.link_model) {
    stamp_.assign(topology.num_links(), 0);
    first_.assign(demand.num_messages(), 0);
    length_.assign(demand.num_messages(), 0);
    group_sources();
  }

  Paths run() {
    prices_.begin(options_.sweeps);
    for (std::uint32_t round = 0; round < demand_.chunks_per_pair; ++round) {
      for (std::uint32_t group = 0; group < num_groups(); ++group) {
        deal_out(group, round);
      }
    }
    prices_.sweep(options_.sweeps, [&](std::uint32_t sweep) { return reconsider_all(sweep); });
    return take();
  }

 private:
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

  /// The tree of cheapest paths from the source of a group.
  void search(NodeId source) {
    check_cancel();
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
        const std::uint64_t via = d + prices_.of_next(id);
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
        prices_.add_first(link);
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
    const auto old = std::span(arena_).subspan(first_[message], length_[message]);
    for (const LinkId link : old) {
      stamp_[link.index()] = stamp_now_;
      saved += prices_.of_last(link);
    }
    std::uint64_t paid = 0;
    for (const LinkId link : path_) {
      if (stamp_[link.index()] == stamp_now_) {
        saved -= prices_.of_last(link);
      } else {
        paid += prices_.of_next(link);
      }
    }
    if (paid >= saved) {
      return false;
    }
    for (const LinkId link : old) {
      prices_.remove(link);
    }
    for (const LinkId link : path_) {
      prices_.add(link);
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
  LinkPrices prices_;

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

replay::Itineraries make_itineraries(const Topology& topology,
                                     const Paths& paths,
                                     replay::RouteTable& routes) {
  replay::Itineraries made;
  made.first.reserve(paths.first.size());
  made.hops.reserve(paths.links.size());
  for (std::uint32_t message = 0; message + 1 < paths.first.size(); ++message) {
    append_itinerary(topology, paths.of(message), routes, made);
  }
  return made;
}

}  // namespace tacos
