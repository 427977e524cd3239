// SPDX-License-Identifier: MIT
// Exact cut bounds by one pass of merged maximum flows.
//
// Theorem. In an All-Gather every NPU outside S must get the shards of S across the cut, so the
// time is at least m * rho, rho = max over S of |S n C| / B(S -> rest), where m is a shard, C are
// the participants, not all of them in S. (It is reached in the limit of small chunks by packing
// trees, Edmonds 1973; with switches of equal bandwidth in and out: ForestColl, Zhao et al. 2024.)
//
// Algorithm. Guess rho = p/q from below, as the ratio of some cut. Let every NPU send q and every
// link carry p times its bandwidth. Exactly when n*q arrive at every NPU t (its own included), no
// cut has a ratio above p/q. If less arrives at t, the nodes R that still reach t in the residual
// graph form a cut with a strictly larger ratio, the next guess (Newton's method for fractions,
// Dinkelbach 1967). Two facts make one pass over the sinks enough: raising the ratio only relaxes
// what was verified before, and any violating cut has the sinks verified so far on its sending
// side, so they may be given unlimited supply. With sinks in breadth-first order the supply is next
// door: only the first flow is global, later ones stay within two or three hops (sink_flow.h).
//
// n flows and as many more as there are updates (0 to 5 in all networks tried); time in practice
// proportional to n * (hops of the first flow) + links. All in integers: with capacities in units
// of their greatest common divisor p <= n and q <= the total bandwidth, so 64 bits hold every
// product on any real network, and 128 bits on any that Topology admits.
//
// Broadcast asks for the smallest cut that separates the root from some participant: the same pass,
// with the running minimum as the target instead of a ratio. Gather has a single sink.
//
// Tried and worse (docs/adr/0010-max-flow.md): phases that stop at the nearest supply, as Dinic has
// them (0.47 s instead of 0.038 s on a mesh of 200 x 200); LEMON's preflow for each sink, which is
// global by nature (2,400 times slower on a mesh of 32 x 32). A binary search over the ratio would
// need all n flows for each of its steps.
#include "bound/cuts/cut.h"

#include <algorithm>
#include <numeric>

#include "base/assert.h"
#include "bound/flows/sink_flow.h"

namespace tacos {
namespace {

template <class Int>
Int common_divisor(Int a, Int b) {
  while (b != 0) {
    a = std::exchange(b, a % b);
  }
  return a;
}

/// Participants in breadth-first order from `first`, whichever way the links point.
template <class Int>
std::vector<std::uint32_t> breadth_first(const FlowGraph<Int>& graph, std::uint32_t first) {
  std::vector<std::uint8_t> seen(graph.num_nodes(), 0);
  std::vector<std::uint32_t> order{first};
  order.reserve(graph.num_nodes());
  seen[first] = 1;
  for (std::size_t at = 0; at < order.size(); ++at) {
    for (std::uint32_t arc = graph.first(order[at]); arc < graph.first(order[at] + 1); ++arc) {
      const std::uint32_t other = graph.arc(arc).head;
      if (seen[other] == 0) {
        seen[other] = 1;
        order.push_back(other);
      }
    }
  }
  return order;
}

/// (weight outside) / (bandwidth into a set), in lowest terms.
template <class Int>
struct Ratio {
  Int p = 0;
  Int q = 1;
};

/// a > b by continued fractions: their products may not fit.
template <class Int>
bool is_more(Ratio<Int> a, Ratio<Int> b) {
  for (;;) {
    const Int whole_a = a.p / a.q;
    const Int whole_b = b.p / b.q;
    if (whole_a != whole_b) {
      return whole_a > whole_b;
    }
    a.p -= whole_a * a.q;
    b.p -= whole_b * b.q;
    if (a.p == 0 || b.p == 0) {
      return a.p != 0 && b.p == 0;
    }
    // a > b exactly when 1/a < 1/b.
    std::swap(a.p, a.q);
    std::swap(b.p, b.q);
    std::swap(a, b);
  }
}

template <class Int>
class GatherSearch {
 public:
  GatherSearch(const FlowGraph<Int>& graph, std::span<const std::int64_t> weights)
      : graph_(graph),
        weights_(weights),
        total_(std::accumulate(weights.begin(), weights.end(), std::int64_t{0})),
        flow_(graph),
        inside_(graph.num_nodes(), 0) {}

  void consider(std::span<const std::uint32_t> receivers) {
    best_.assign(receivers.begin(), receivers.end());
    ratio_ = ratio_of(receivers);
    flow_.set_capacity_factor(ratio_.p);
    flow_.set_supply(ratio_.q, weights_);
  }
  /// Raises the ratio until enough reaches `sink`, then makes the sink a source.
  void verify(std::uint32_t sink) {
    for (;;) {
      const Int target = ratio_.q * static_cast<Int>(total_ - weights_[sink]);
      if (flow_.run(sink, target) == target) {
        break;
      }
      const Ratio<Int> before = ratio_;
      const std::vector<std::uint32_t> side(flow_.sink_side().begin(), flow_.sink_side().end());
      consider(side);
      TACOS_ASSERT(is_more(ratio_, before), "a missed target shows a worse cut");
    }
    flow_.make_source(sink);
  }
  [[nodiscard]] const std::vector<std::uint32_t>& best() const { return best_; }

 private:
  [[nodiscard]] Ratio<Int> ratio_of(std::span<const std::uint32_t> receivers) {
    for (const std::uint32_t node : receivers) {
      inside_[node] = 1;
    }
    Ratio<Int> ratio{static_cast<Int>(total_), 0};
    for (const std::uint32_t node : receivers) {
      ratio.p -= weights_[node];
      for (std::uint32_t arc = graph_.first(node); arc < graph_.first(node + 1); ++arc) {
        if (inside_[graph_.arc(arc).head] == 0) {
          ratio.q += graph_.arc(graph_.arc(arc).twin).capacity;
        }
      }
    }
    for (const std::uint32_t node : receivers) {
      inside_[node] = 0;
    }
    TACOS_ASSERT(ratio.p > 0 && ratio.q > 0, "a cut has participants outside and links into it");
    const Int divisor = common_divisor(ratio.p, ratio.q);
    return {ratio.p / divisor, ratio.q / divisor};
  }

  const FlowGraph<Int>& graph_;
  std::span<const std::int64_t> weights_;
  std::int64_t total_;
  SinkFlow<Int> flow_;
  Ratio<Int> ratio_;
  std::vector<std::uint32_t> best_;
  std::vector<std::uint8_t> inside_;
};

std::vector<std::uint32_t> values(const std::vector<NodeId>& nodes) {
  std::vector<std::uint32_t> out(nodes.size());
  std::transform(nodes.begin(), nodes.end(), out.begin(), [](NodeId node) { return node.value(); });
  return out;
}

std::vector<NodeId> ids(const std::vector<std::uint32_t>& nodes) {
  std::vector<NodeId> out;
  out.reserve(nodes.size());
  for (const std::uint32_t node : nodes) {
    out.emplace_back(node);
  }
  return out;
}

template <class Int>
std::vector<NodeId> gather_cut(const Instance& instance,
                               const FlowGraph<Int>& graph,
                               std::span<const std::int64_t> weights,
                               const std::vector<NodeId>& hint,
                               std::optional<NodeId> only_sink) {
  GatherSearch<Int> search(graph, weights);
  search.consider(values(hint));
  if (only_sink) {
    search.verify(only_sink->value());
    return ids(search.best());
  }
  const auto first = std::find_if(hint.begin(), hint.end(), [&](NodeId node) {
    return instance.takes_part[node.index()] != 0;
  });
  for (const std::uint32_t node : breadth_first(graph, first->value())) {
    if (instance.takes_part[node] != 0) {
      search.verify(node);
    }
  }
  return ids(search.best());
}

template <class Int>
std::vector<NodeId> cut_from_root(const Instance& instance, const FlowGraph<Int>& graph) {
  const std::uint32_t root = instance.collective.root().value();
  SinkFlow<Int> flow(graph);
  flow.make_source(root);
  const std::vector<std::uint32_t> order = breadth_first(graph, root);
  // All but the root, or a single participant: the smaller of the cuts that need no flow.
  std::vector<std::uint32_t> best(order.begin() + 1, order.end());
  Int least = graph.out_capacity(root);
  for (const std::uint32_t sink : order) {
    const Int capacity = graph.in_capacity(sink);
    if (instance.takes_part[sink] != 0 && sink != root && capacity < least) {
      least = capacity;
      best = {sink};
    }
  }
  for (const std::uint32_t sink : order) {
    if (instance.takes_part[sink] == 0 || sink == root) {
      continue;
    }
    const Int reached = flow.run(sink, least);
    if (reached < least) {
      least = reached;
      best.assign(flow.sink_side().begin(), flow.sink_side().end());
    }
    flow.make_source(sink);
  }
  return ids(best);
}

/// Calls `search` with the network in the narrowest integers that hold all bandwidth times `most`.
template <class Search>
std::vector<NodeId> in_integers(const Instance& instance, Int128 most, Search search) {
  const std::int64_t unit = bandwidth_unit(instance.network);
  constexpr Int128 kFits = Int128{1} << 61U;
  if (total_bandwidth(instance.network, unit) < kFits / (most + 1)) {
    return search(FlowGraph<std::int64_t>(instance.network, unit));
  }
  return search(FlowGraph<Int128>(instance.network, unit));
}

ExactCut find_gather_cut(const Instance& instance,
                         const std::vector<NodeId>& hint,
                         std::optional<NodeId> only_sink) {
  const bool equal = instance.size() % instance.num_participants() == 0;
  constexpr Int128 kFits = Int128{1} << 125U;
  const Int128 bandwidth = total_bandwidth(instance.network, bandwidth_unit(instance.network));
  const bool by_bytes = !equal && bandwidth < kFits / (instance.size() + Int128{1});
  const std::vector<std::int64_t> ones(instance.takes_part.begin(), instance.takes_part.end());
  const std::span<const std::int64_t> weights = by_bytes ? instance.shard : ones;
  const Int128 most = by_bytes ? Int128{instance.size()} : instance.num_participants();
  return {.receivers = in_integers(instance,
                                   most,
                                   [&](const auto& graph) {
                                     return gather_cut(instance, graph, weights, hint, only_sink);
                                   }),
          .exact = equal || by_bytes};
}

}  // namespace

ExactCut worst_gather_cut(const Instance& instance, const std::vector<NodeId>& hint) {
  return find_gather_cut(instance, hint, std::nullopt);
}

ExactCut worst_gather_cut_around_root(const Instance& instance, const std::vector<NodeId>& hint) {
  return find_gather_cut(instance, hint, instance.collective.root());
}

ExactCut smallest_cut_from_root(const Instance& instance) {
  return {.receivers = in_integers(
              instance, 2, [&](const auto& graph) { return cut_from_root(instance, graph); }),
          .exact = true};
}

}  // namespace tacos
