// SPDX-License-Identifier: MIT
// The partition bound of All-Reduce.
//
// Theorem. Divide the participants into parts A_1..A_p and let h(A) be the least bandwidth out of A
// together with any switches. Then T >= 2 (p-1) M / (h(A_1) + ... + h(A_p)). Proof: follow one
// element of the vector and order the messages between parts by arrival. When the first part has
// the full sum, each of the p-1 others has sent at least once; afterwards each of the p-1 others
// must still receive once; so at least 2 (p-1) copies of every element leave parts. The same with
// the bandwidth into parts, that is, on the reversed network. Switches neither add nor replicate
// (for those that do the bound is wrong). NPUs that take no part may add and replicate; they count
// as members of the part of the nearest participant, which leaves the proof as it is.
//
// Without switches the sum is the bandwidth across the partition, both ways, so the best partition
// is the strength of the graph with opposite links added up (strength.cc), exact for any
// bandwidths. When opposite links are equal that is also attainable: spanning trees can be packed
// to it (Tutte, Nash-Williams 1961), and All-Reduce goes up and down each tree.
//
// With switches h is submodular but no longer a cut of the participants alone, so the same greedy
// algorithm runs with a minimum cut over the whole network for each NPU: O(n) flows for each Newton
// step, exact, for networks up to kMaxFlowWork. Larger ones get the best of the partitions into
// components of fast links.
#include "bound/partitions/partition.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "bound/cuts/components.h"
#include "bound/flows/flow_graph.h"
#include "bound/flows/max_flow.h"
#include "bound/partitions/strength.h"

namespace tacos {
namespace {

constexpr std::uint64_t kMaxFlowWork = 4'000'000;
constexpr std::uint32_t kMaxExactStrength = 20'000;
constexpr Int128 kFits = Int128{1} << 61U;

/// The participant that each NPU counts with: itself, or the nearest for those that take no part.
std::vector<std::uint32_t> group_npus(const Instance& instance) {
  const Topology& network = instance.network;
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> group(network.num_nodes(), kNone);
  std::vector<NodeId> queue;
  for (std::uint32_t p = 0; p < instance.num_participants(); ++p) {
    queue.push_back(instance.collective.participants()[p]);
    group[queue.back().index()] = p;
  }
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const LinkId id : network.in_links(queue[at])) {
      const NodeId other = network.link(id).src;
      if (group[other.index()] == kNone) {
        group[other.index()] = group[queue[at].index()];
        queue.push_back(other);
      }
    }
  }
  group.resize(network.num_npus());
  std::replace(group.begin(), group.end(), kNone, 0U);
  return group;
}

/// A division of the participants, and the switches that each part counts as its own.
struct Division {
  std::vector<std::uint32_t> part;
  std::uint32_t num_parts = 0;
  std::vector<std::pair<std::uint32_t, NodeId>> switches;
};

class PartitionSearch {
 public:
  PartitionSearch(const Instance& instance, const std::vector<std::uint32_t>& group)
      : instance_(instance), group_(group) {}

  [[nodiscard]] Certificate certificate(const Division& division) const;
  /// Components of fast links; the best by the bound they give.
  [[nodiscard]] Division best_components() const;
  /// Nothing when the work or the numbers are too large.
  [[nodiscard]] std::optional<Division> exact_with_switches(const Division& first_guess) const;

 private:
  const Instance& instance_;
  const std::vector<std::uint32_t>& group_;
};

Certificate PartitionSearch::certificate(const Division& division) const {
  const Topology& network = instance_.network;
  Certificate made;
  made.kind = CertificateKind::kPartition;
  made.reversed = instance_.orientation == Orientation::kReversed;
  made.parts.resize(network.num_npus());
  for (std::uint32_t npu = 0; npu < network.num_npus(); ++npu) {
    made.parts[npu] = division.part[group_[npu]];
  }
  made.part_switches = division.switches;
  std::sort(made.part_switches.begin(), made.part_switches.end());
  // Links out of NPUs, but for those into a switch of the same part; then the same for switches.
  const auto owns = [&](std::uint32_t part, NodeId node) {
    return network.is_npu(node)
               ? made.parts[node.index()] == part
               : std::binary_search(
                     made.part_switches.begin(), made.part_switches.end(), std::pair(part, node));
  };
  Int128 bandwidth = 0;
  const auto add_out = [&](std::uint32_t part, NodeId node) {
    for (const LinkId id : network.out_links(node)) {
      const Link& link = network.link(id);
      bandwidth += owns(part, link.dst) ? 0 : link.bandwidth.bytes_per_second;
    }
  };
  for (std::uint32_t npu = 0; npu < network.num_npus(); ++npu) {
    add_out(made.parts[npu], NodeId(npu));
  }
  for (const auto& [part, node] : made.part_switches) {
    add_out(part, node);
  }
  made.copies = 2 * (std::int64_t{division.num_parts} - 1);
  made.bytes = instance_.size();
  made.bandwidth = saturated(bandwidth);
  made.time = transfer_time(made.copies, made.bytes, bandwidth);
  return made;
}

Division PartitionSearch::best_components() const {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  const Topology& network = instance_.network;
  Division best;
  Ticks best_time;
  for_speed_levels(network, [&](Components& components) {
    // A group may be spread over components: it goes with its participant.
    Division division;
    std::vector<std::uint32_t> number(network.num_nodes(), kNone);
    for (const NodeId node : instance_.collective.participants()) {
      std::uint32_t& part = number[components.find(node.value())];
      part = part == kNone ? division.num_parts++ : part;
      division.part.push_back(part);
    }
    if (division.num_parts < 2) {
      return;
    }
    for (std::uint32_t node = network.num_npus(); node < network.num_nodes(); ++node) {
      if (const std::uint32_t part = number[components.find(node)]; part != kNone) {
        division.switches.emplace_back(part, NodeId(node));
      }
    }
    const Ticks time = certificate(division).time;
    if (best.num_parts == 0 || time > best_time) {
      best = std::move(division);
      best_time = time;
    }
  });
  return best;
}

/// Greedy values and minimum cuts over groups of NPUs and switches, for one Newton step.
class Truncation {
 public:
  Truncation(const Instance& instance,
             const std::vector<std::uint32_t>& group,
             std::int64_t unit,
             std::uint32_t num_groups)
      : num_groups_(num_groups),
        num_nodes_(num_groups + instance.network.num_switches()),
        flow_(num_nodes_ + 2) {
    const Topology& network = instance.network;
    const auto node = [&](NodeId id) {
      return network.is_npu(id) ? group[id.index()] : num_groups + id.value() - network.num_npus();
    };
    for (const Link& link : network.links()) {
      if (node(link.src) != node(link.dst)) {
        links_.push_back(link.bandwidth.bytes_per_second / unit);
        link_arcs_.push_back(flow_.add_arc(node(link.src), node(link.dst), 0));
        total_ += links_.back();
      }
    }
    for (std::uint32_t g = 0; g < num_groups; ++g) {
      from_source_.push_back(flow_.add_arc(num_nodes_, g, 0));
      to_sink_.push_back(flow_.add_arc(g, num_nodes_ + 1, 0));
    }
  }

  /// Links count `scale` times; a part costs `pebbles` less.
  [[nodiscard]] std::vector<std::uint32_t> partition(std::int64_t pebbles, std::int64_t scale) {
    set_scale(scale);
    std::vector<std::int64_t> value(num_groups_, 0);
    Components parts(num_groups_);
    close(0, num_groups_);
    std::int64_t gained = 0;
    for (std::uint32_t g = 0; g < num_groups_; ++g) {
      flow_.set_capacity(from_source_[g], unlimited_);
      flow_.set_capacity(to_sink_[g], 0);
      value[g] = flow_.run(num_nodes_, num_nodes_ + 1) - gained - pebbles;
      for (std::uint32_t other = 0; other < g; ++other) {
        if (flow_.on_source_side(other)) {
          parts.join(g, other);
        }
      }
      flow_.set_capacity(from_source_[g], std::max<std::int64_t>(0, value[g]));
      flow_.set_capacity(to_sink_[g], std::max<std::int64_t>(0, -value[g]));
      gained += std::max<std::int64_t>(0, value[g]);
    }
    std::vector<std::uint32_t> part(num_groups_);
    for (std::uint32_t g = 0; g < num_groups_; ++g) {
      part[g] = parts.find(g);
    }
    return part;
  }

  /// h(A) of the groups with this part, in link units, and the switches that go with them.
  [[nodiscard]] std::int64_t least_out(const std::vector<std::uint32_t>& part,
                                       std::uint32_t which,
                                       std::vector<std::uint32_t>& switches) {
    set_scale(1);
    for (std::uint32_t g = 0; g < num_groups_; ++g) {
      flow_.set_capacity(from_source_[g], part[g] == which ? unlimited_ : 0);
      flow_.set_capacity(to_sink_[g], part[g] == which ? 0 : unlimited_);
    }
    const std::int64_t least = flow_.run(num_nodes_, num_nodes_ + 1);
    switches.clear();
    for (std::uint32_t node = num_groups_; node < num_nodes_; ++node) {
      if (flow_.on_source_side(node)) {
        switches.push_back(node - num_groups_);
      }
    }
    return least;
  }

 private:
  void set_scale(std::int64_t scale) {
    for (std::size_t i = 0; i < links_.size(); ++i) {
      flow_.set_capacity(link_arcs_[i], links_[i] * scale);
    }
    // A cut of one group pays its links and the values of all others, each at most all links.
    unlimited_ = 4 * total_ * scale + 1;
  }
  /// Groups that have not come yet belong to the other side.
  void close(std::uint32_t from, std::uint32_t end) {
    for (std::uint32_t g = from; g < end; ++g) {
      flow_.set_capacity(from_source_[g], 0);
      flow_.set_capacity(to_sink_[g], unlimited_);
    }
  }

  std::uint32_t num_groups_;
  std::uint32_t num_nodes_;
  MaxFlow flow_;
  std::vector<std::int64_t> links_;
  std::vector<std::uint32_t> link_arcs_;
  std::vector<std::uint32_t> from_source_;
  std::vector<std::uint32_t> to_sink_;
  std::int64_t total_ = 0;
  std::int64_t unlimited_ = 0;
};

std::uint32_t renumber(std::vector<std::uint32_t>& part) {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> number(part.size(), kNone);
  std::uint32_t count = 0;
  for (std::uint32_t& p : part) {
    std::uint32_t& at = number[p];
    at = at == kNone ? count++ : at;
    p = at;
  }
  return count;
}

std::optional<Division> PartitionSearch::exact_with_switches(const Division& first_guess) const {
  const std::uint32_t n = instance_.num_participants();
  const std::int64_t unit = bandwidth_unit(instance_.network);
  // Values are sums of up to n capacities, each scaled by up to n.
  if (std::uint64_t{n} * instance_.network.num_working_links() > kMaxFlowWork ||
      total_bandwidth(instance_.network, unit) * n * n * 8 > kFits) {
    return std::nullopt;
  }
  Truncation truncation(instance_, group_, unit, n);
  Division best;
  std::int64_t best_out = 0;
  const auto assess = [&](std::vector<std::uint32_t> part) {
    Division division;
    division.num_parts = renumber(part);
    division.part = std::move(part);
    std::int64_t out = 0;
    std::vector<std::uint32_t> switches;
    for (std::uint32_t p = 0; p < division.num_parts; ++p) {
      out += truncation.least_out(division.part, p, switches);
      for (const std::uint32_t index : switches) {
        division.switches.emplace_back(p, NodeId(instance_.network.num_npus() + index));
      }
    }
    best = std::move(division);
    best_out = out;
  };
  assess(first_guess.part);
  for (;;) {
    const std::int64_t divisor = std::gcd(best_out, std::int64_t{best.num_parts} - 1);
    const std::int64_t pebbles = best_out / divisor;
    const std::int64_t scale = (std::int64_t{best.num_parts} - 1) / divisor;
    std::vector<std::uint32_t> part = truncation.partition(pebbles, scale);
    const Division before = best;
    const std::int64_t out_before = best_out;
    assess(std::move(part));
    if (best.num_parts < 2 ||
        Int128{best_out} * scale >= Int128{pebbles} * (std::int64_t{best.num_parts} - 1)) {
      best = before;
      best_out = out_before;
      return best;
    }
  }
}

/// Opposite and parallel links between groups added up.
std::vector<WeightedEdge> edges_between(const Instance& instance,
                                        const std::vector<std::uint32_t>& group,
                                        std::int64_t unit) {
  std::vector<WeightedEdge> edges;
  for (const Link& link : instance.network.links()) {
    const std::uint32_t u = group[link.src.index()];
    const std::uint32_t v = group[link.dst.index()];
    if (u != v) {
      edges.push_back({std::min(u, v), std::max(u, v), link.bandwidth.bytes_per_second / unit});
    }
  }
  std::sort(edges.begin(), edges.end(), [](const WeightedEdge& a, const WeightedEdge& b) {
    return std::pair(a.u, a.v) < std::pair(b.u, b.v);
  });
  std::size_t kept = 0;
  for (const WeightedEdge& edge : edges) {
    if (kept > 0 && edges[kept - 1].u == edge.u && edges[kept - 1].v == edge.v) {
      edges[kept - 1].weight += edge.weight;
    } else {
      edges[kept++] = edge;
    }
  }
  edges.resize(kept);
  return edges;
}

/// Whether opposite links have equal bandwidth between every two NPUs, all of which take part.
bool is_symmetric(const Instance& instance) {
  if (instance.num_participants() != instance.network.num_nodes()) {
    return false;
  }
  const FlowGraph<Int128> graph(instance.network, 1);
  for (std::uint32_t arc = 0; arc < graph.num_arcs(); ++arc) {
    if (graph.arc(arc).capacity != graph.arc(graph.arc(arc).twin).capacity) {
      return false;
    }
  }
  return true;
}

PartitionBound without_switches(const Instance& instance,
                                const PartitionSearch& search,
                                const std::vector<std::uint32_t>& group,
                                const Division& guess) {
  const std::int64_t unit = bandwidth_unit(instance.network);
  const std::uint32_t n = instance.num_participants();
  if (total_bandwidth(instance.network, unit) * n * 200 > kFits) {
    return {.certificate = search.certificate(guess), .exact = false, .attainable = std::nullopt};
  }
  const Strength strength = graph_strength(
      n,
      edges_between(instance, group, unit),
      guess.part,
      n <= kMaxExactStrength ? StrengthGoal::kExact : StrengthGoal::kWithinOnePercent);
  const Division division{.part = strength.part,
                          .num_parts = static_cast<std::uint32_t>(strength.parts_less_one + 1),
                          .switches = {}};
  PartitionBound found{.certificate = search.certificate(division),
                       .exact = strength.slack == 0,
                       .attainable = std::nullopt};
  if (strength.slack != 1 && is_symmetric(instance)) {
    const Ticks time = found.certificate.time;
    const Int128 slower = strength.slack == 0
                              ? Int128{time.ps}
                              : Int128{time.ps} * strength.slack / (strength.slack - 1) + 1;
    found.attainable = std::min(kMaxTime, Ticks{saturated(slower)});
  }
  return found;
}

}  // namespace

PartitionBound best_partition(const Instance& forward,
                              const Instance& reversed,
                              BoundEffort effort) {
  const std::vector<std::uint32_t> group = group_npus(forward);
  const PartitionSearch search(forward, group);
  const Division guess = search.best_components();
  if (effort == BoundEffort::kCheap) {
    return {.certificate = search.certificate(guess), .exact = false, .attainable = std::nullopt};
  }
  if (forward.network.num_switches() == 0) {
    return without_switches(forward, search, group, guess);
  }
  PartitionBound best{
      .certificate = search.certificate(guess), .exact = false, .attainable = std::nullopt};
  const PartitionSearch backwards(reversed, group);
  const std::optional<Division> out = search.exact_with_switches(guess);
  const std::optional<Division> in = backwards.exact_with_switches(guess);
  best.exact = out && in;
  for (Certificate candidate : {out ? search.certificate(*out) : best.certificate,
                                in ? backwards.certificate(*in) : best.certificate}) {
    if (candidate.time > best.certificate.time) {
      best.certificate = std::move(candidate);
    }
  }
  return best;
}

}  // namespace tacos
