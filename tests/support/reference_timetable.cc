// SPDX-License-Identifier: MIT
#include "support/reference_timetable.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/numbers/rng.h"
#include "support/random_network.h"

namespace tacos::testing {
namespace {

/// The links of each entry.
std::vector<std::vector<std::uint32_t>> routes_of(const Timetable& timetable) {
  std::vector<std::vector<std::uint32_t>> routes;
  auto next = timetable.further_links.begin();
  for (const TimetableEntry& entry : timetable.entries) {
    routes.push_back({entry.link});
    routes.back().insert(routes.back().end(), next, next + entry.num_further);
    next += entry.num_further;
  }
  return routes;
}

using Route = std::vector<LinkId>;

/// A way from an NPU to each other one that passes switches only; empty where there is none.
std::vector<Route> routes_from(const Topology& topology, std::uint32_t npu) {
  std::vector<Route> routes(topology.num_nodes());
  std::vector<std::uint32_t> queue{npu};
  for (std::size_t at = 0; at < queue.size(); ++at) {
    if (at > 0 && topology.is_npu(NodeId(queue[at]))) {
      continue;
    }
    for (const LinkId link : topology.out_links(NodeId(queue[at]))) {
      const std::uint32_t to = topology.link(link).dst.value();
      if (to != npu && routes[to].empty()) {
        routes[to] = routes[queue[at]];
        routes[to].push_back(link);
        queue.push_back(to);
      }
    }
  }
  return routes;
}

/// Plans transfers modulo a period that has room for any order of them.
class NaivePlanner {
 public:
  explicit NaivePlanner(std::uint64_t number)
      : rng_(number ^ 77U),
        topology_(rng_.below(3) == 0
                      ? random_switched_network(number, 7)
                      : random_network(number, {.max_npus = 8, .directed = rng_.below(2) == 0})),
        model_(rng_.below(2) == 0 ? LinkModel::kHold : LinkModel::kPipelined) {
    for (std::uint32_t npu = 0; npu < topology_.num_npus(); ++npu) {
      routes_.push_back(routes_from(topology_, npu));
    }
  }

  PeriodicCase run(PeriodLength length, std::int64_t seats) {
    constexpr std::array kKinds{CollectiveKind::kAllReduce,
                                CollectiveKind::kBroadcast,
                                CollectiveKind::kReduce,
                                CollectiveKind::kAllGather,
                                CollectiveKind::kReduceScatter};
    const CollectiveKind kind = kKinds[rng_.below(kKinds.size())];
    const CollectiveTraits& rule = traits(kind);
    const std::uint32_t npus = topology_.num_npus();
    const std::uint32_t owners = rule.chunks_per == ChunksPer::kParticipant ? npus : 1;
    const std::uint32_t trees = 1 + rng_.below(3);
    const std::uint32_t rounds = 1 + rng_.below(5);
    const std::uint32_t root = rng_.below(npus);
    Collective collective =
        Collective::over_all(kind,
                             {std::int64_t{owners} * trees * rounds * 1000 + rng_.below(9) * npus},
                             trees * rounds,
                             npus,
                             rule.rooted() ? std::optional(NodeId(root)) : std::nullopt)
            .value();
    bytes_ = collective.chunks().max_bytes();
    timetable_ = {.period = {}, .rounds = rounds, .stride = trees};
    const bool direct = topology_.num_npus() == topology_.num_nodes();
    seats_ = direct ? seats : 1;
    std::int64_t period = 1;
    for (const Link& link : topology_.links()) {
      period = std::max(period, link_cost(link, bytes_of_all(), model_).busy.ps);
    }
    // Each transfer may lose as much as it takes to what does not fit between others.
    timetable_.period.ps =
        period * 4 * owners * trees * (length == PeriodLength::kShort && direct ? 1 : npus);
    for (std::uint32_t tree = 0; tree < owners * trees; ++tree) {
      const std::uint32_t owner = tree / trees;
      const std::uint32_t chunk = owner * trees * rounds + tree % trees;
      const std::uint32_t top = owners > 1 ? owner : rule.rooted() ? root : rng_.below(npus);
      add_tree(chunk,
               top,
               rule.reduces,
               kind != CollectiveKind::kReduce && kind != CollectiveKind::kReduceScatter);
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      timetable_.entries.push_back(entries_[i]);
    }
    write_routes();
    return {std::move(topology_), std::move(collective), model_, std::move(timetable_)};
  }

 private:
  struct Branch {
    std::uint32_t node = 0;
    std::uint32_t parent = 0;
  };

  /// NPUs in the order in which they join a random tree, away from the top or towards it.
  std::vector<Branch> random_tree(std::uint32_t top, bool away) {
    std::vector<Branch> tree;
    std::vector<std::uint32_t> in{top};
    std::vector<bool> joined(topology_.num_npus(), false);
    joined[top] = true;
    while (in.size() < topology_.num_npus()) {
      const std::uint32_t parent = in[rng_.below(static_cast<std::uint32_t>(in.size()))];
      const std::uint32_t node = rng_.below(topology_.num_npus());
      if (!joined[node] && !(away ? routes_[parent][node] : routes_[node][parent]).empty()) {
        joined[node] = true;
        in.push_back(node);
        tree.push_back({node, parent});
      }
    }
    return tree;
  }

  void add_tree(std::uint32_t chunk, std::uint32_t top, bool reduces, bool copies) {
    std::vector<Ticks> there(topology_.num_npus());
    if (reduces) {
      const std::vector<Branch> tree = random_tree(top, false);
      for (auto at = tree.rbegin(); at != tree.rend(); ++at) {
        const Ticks end = add(there[at->node], routes_[at->node][at->parent], chunk, Op::kReduce);
        there[at->parent] = std::max(there[at->parent], end);
      }
    }
    if (copies) {
      for (const Branch& at : random_tree(top, true)) {
        // Not before it has sent its own.
        there[at.node] = add(there[at.parent], routes_[at.parent][at.node], chunk, Op::kCopy);
      }
    }
  }

  /// Of all chunks that may share a transfer; each is planned as if it did.
  [[nodiscard]] Bytes bytes_of_all() const { return {bytes_.count * seats_}; }

  /// Together with others that go over the same link, or at the first time from `ready` on at which
  /// no link of the route is taken in any round.
  Ticks add(Ticks ready, const Route& route, std::uint32_t chunk, Op op) {
    const std::int64_t period = timetable_.period.ps;
    for (const TimetableEntry& other : entries_) {
      const auto together = std::count_if(
          entries_.begin(), entries_.end(), [&](const auto& one) { return shares(one, other); });
      if (seats_ > 1 && other.link == route.front().value() && other.op == op &&
          together < seats_ && rng_.below(3) > 0) {
        const std::int64_t wait = ((other.place.ps - ready.ps) % period + period) % period;
        return put(ready + Ticks{wait}, route, chunk, op);
      }
    }
    for (Ticks start = ready;; ++start.ps) {
      std::int64_t later = 0;
      Ticks head = start;
      for (const LinkId link : route) {
        const Ticks busy = link_cost(topology_.link(link), bytes_of_all(), model_).busy;
        for (const auto& [from, until, on] : taken_) {
          // How far it is from the one start to the other, round the period.
          const std::int64_t after = (head.ps - from.ps % period + period) % period;
          if (on == link && after < until.ps - from.ps) {
            later = std::max(later, until.ps - from.ps - after);
          } else if (on == link && period - after < busy.ps) {
            later = std::max(later, period - after + until.ps - from.ps);
          }
        }
        head += topology_.link(link).latency;
      }
      if (later == 0) {
        return put(start, route, chunk, op);
      }
      start.ps += later - 1;
    }
  }

  Ticks put(Ticks start, const Route& route, std::uint32_t chunk, Op op) {
    Ticks head = start;
    for (const LinkId link : route) {
      taken_.emplace_back(
          head, head + link_cost(topology_.link(link), bytes_of_all(), model_).busy, link);
      head += topology_.link(link).latency;
    }
    entries_.push_back({.place = {start.ps % timetable_.period.ps},
                        .lap = static_cast<std::uint32_t>(start.ps / timetable_.period.ps),
                        .chunk = chunk,
                        .link = route.front().value(),
                        .op = op,
                        .num_further = static_cast<std::uint8_t>(route.size() - 1)});
    taken_routes_.push_back(route);
    return start + route_time(topology_, route, bytes_of_all());
  }

  void write_routes() {
    for (const Route& route : taken_routes_) {
      for (std::size_t i = 1; i < route.size(); ++i) {
        timetable_.further_links.push_back(route[i].value());
      }
    }
    sort_entries(timetable_);
  }

  Rng rng_;
  Topology topology_;
  LinkModel model_;
  std::vector<std::vector<Route>> routes_;
  Bytes bytes_;
  /// How many may share a transfer.
  std::int64_t seats_ = 1;
  Timetable timetable_;
  std::vector<std::tuple<Ticks, Ticks, LinkId>> taken_;
  std::vector<TimetableEntry> entries_;
  std::vector<Route> taken_routes_;
};

}  // namespace

std::vector<test::ListedTransfer> expand(const Timetable& timetable) {
  std::vector<test::ListedTransfer> transfers;
  const auto routes = routes_of(timetable);
  for (std::size_t i = 0; i < timetable.entries.size(); ++i) {
    const TimetableEntry& entry = timetable.entries[i];
    for (std::uint32_t round = 0; round < timetable.rounds; ++round) {
      transfers.push_back(
          {.start = entry.place.ps + (std::int64_t{entry.lap} + round) * timetable.period.ps,
           .op = entry.op,
           .links = routes[i],
           .chunks = {entry.chunk + round * timetable.stride}});
    }
  }
  std::stable_sort(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) {
    return std::pair(a.start, a.links.front()) < std::pair(b.start, b.links.front());
  });
  // What starts together on a link is one transfer, with its chunks in the order of the entries.
  std::vector<test::ListedTransfer> joined;
  for (const test::ListedTransfer& one : transfers) {
    if (joined.empty() || joined.back().start != one.start ||
        joined.back().links.front() != one.links.front()) {
      joined.push_back(one);
    } else {
      joined.back().chunks.push_back(one.chunks.front());
    }
  }
  return joined;
}

Schedule PeriodicCase::schedule() const {
  return make_periodic_schedule(
      timetable, test::totals_of(expand(timetable), topology, collective.chunks()).collective_time);
}

PeriodicCase random_periodic_case(std::uint64_t number, PeriodLength length, std::int64_t seats) {
  return NaivePlanner(number).run(length, seats);
}

void sort_entries(Timetable& timetable) {
  const auto routes = routes_of(timetable);
  std::vector<std::size_t> order(timetable.entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const TimetableEntry& one = timetable.entries[a];
    const TimetableEntry& other = timetable.entries[b];
    return std::tuple(one.place, one.link, one.chunk) <
           std::tuple(other.place, other.link, other.chunk);
  });
  Timetable sorted = timetable;
  sorted.entries.clear();
  sorted.further_links.clear();
  for (const std::size_t i : order) {
    sorted.entries.push_back(timetable.entries[i]);
    sorted.further_links.insert(sorted.further_links.end(), routes[i].begin() + 1, routes[i].end());
  }
  timetable = std::move(sorted);
}

}  // namespace tacos::testing
