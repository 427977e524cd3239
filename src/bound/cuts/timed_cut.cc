// SPDX-License-Identifier: MIT
// Latency and bandwidth together: what a cut can carry by time T, given when data can first be
// there.
//
// Theorem. Let R be the receiving side of a cut, t a participant in it, and A participants outside
// whose data t needs, all at least r away from t (in latency). Data of A cannot begin to cross a
// link (x, y) into R before it can have reached x, and once across it still has to get from y to t.
// The two and the link's latency a add up to at least q = max(r, d(A, x) + a + d(y, t)), so the
// link serves A for at most T - q, and T is at least the smallest with
//
//     sum over links into R of b * max(0, T - q)  >=  bytes of A.
//
// This holds under both link models, for any chunking and for coalesced transfers, because all that
// is used is that a link needs bytes/b for what it carries, that data arrives no sooner than its
// latency allows, and that a route through switches starts on each link no sooner than the
// latencies before it. It is the quickest-flow bound (Ford and Fulkerson 1958) restricted to one
// cut. The full one needs a minimum-cost flow for each pair, and is not valid for cut-through
// routes over unequal links, where a fast link may be done with a message whose tail is still on
// the slow link before it.
//
// With R = {t}, and switches that hear from nobody but t, so that nothing new comes from them, and
// r over all distances this covers pure latency (r the largest), pure bandwidth (r the smallest)
// and all between. One search for each t; above a budget of link visits only the sinks with the
// least bandwidth and some at the edge of the network are tried (all of them for 1,024 NPUs cost 60
// ms, more than ten times the exact cut).
#include "bound/cuts/timed_cut.h"

#include <algorithm>
#include <numeric>

#include "bound/distance.h"

namespace tacos {
namespace {

constexpr std::uint64_t kLinkVisits = 1'000'000;
constexpr std::size_t kFewSearches = 8;

struct Crossing {
  Ticks delay;
  Int128 bandwidth;
};

/// Smallest T with sum of bandwidth * max(0, T - max(delay, radius)) >= bytes, for crossings in the
/// order of their delays; nothing when the sums leave 128 bits.
std::optional<Ticks> earliest(const std::vector<Crossing>& crossings,
                              Ticks radius,
                              std::int64_t bytes) {
  Int128 bandwidth = 0;
  Int128 work = bytes * kPsPerSecond;
  for (std::size_t i = 0; i < crossings.size(); ++i) {
    const Ticks delay = std::max(crossings[i].delay, radius);
    Int128 lost = 0;
    bandwidth += crossings[i].bandwidth;
    if (__builtin_mul_overflow(crossings[i].bandwidth, Int128{delay.ps}, &lost) ||
        __builtin_add_overflow(work, lost, &work)) {
      return std::nullopt;
    }
    if (i + 1 < crossings.size() && crossings[i + 1].delay <= delay) {
      continue;
    }
    const Int128 time = work / bandwidth + (work % bandwidth != 0 ? 1 : 0);
    if (i + 1 == crossings.size() || time <= crossings[i + 1].delay.ps) {
      return time > kMaxTime.ps ? kMaxTime : Ticks{static_cast<std::int64_t>(time)};
    }
  }
  return std::nullopt;
}

class TimedCuts {
 public:
  TimedCuts(const Instance& instance, BoundEffort effort)
      : instance_(instance),
        network_(instance.network),
        searches_(effort == BoundEffort::kCheap
                      ? kFewSearches
                      : std::max<std::size_t>(kFewSearches,
                                              kLinkVisits / (network_.num_working_links() + 1U))) {}

  void try_single_sinks();
  void try_cut(const std::vector<NodeId>& receivers);
  [[nodiscard]] std::optional<Certificate>& best() { return best_; }

 private:
  /// Where data comes from: one NPU, or every participant outside.
  [[nodiscard]] bool one_source() const {
    return traits(instance_.collective.kind()).chunks_per == ChunksPer::kBuffer;
  }
  [[nodiscard]] bool one_target() const {
    const CollectiveTraits& kind = traits(instance_.collective.kind());
    return kind.rooted() && !kind.spreads();
  }
  [[nodiscard]] std::vector<NodeId> chosen(Toward direction) const;
  [[nodiscard]] bool only_hears_from(NodeId node, NodeId target) const;
  [[nodiscard]] std::vector<NodeId> receivers_around(NodeId target) const;
  void gather_at(NodeId target);
  void spread_from(NodeId source);
  void scan_radii(const std::vector<NodeId>& receivers,
                  NodeId target,
                  const std::vector<Ticks>& to_target,
                  std::vector<Crossing>& crossings);
  [[nodiscard]] bool is_better(const std::optional<Ticks>& time) const {
    return time && (!best_ || *time > best_->time);
  }
  void keep(Ticks time, std::int64_t bytes, std::vector<NodeId> receivers, CutTiming timing);

  const Instance& instance_;
  const Topology& network_;
  std::size_t searches_;
  std::optional<Certificate> best_;
};

void sort_by_delay(std::vector<Crossing>& crossings) {
  std::sort(crossings.begin(), crossings.end(), [](const Crossing& a, const Crossing& b) {
    return a.delay < b.delay;
  });
}

void TimedCuts::keep(Ticks time,
                     std::int64_t bytes,
                     std::vector<NodeId> receivers,
                     CutTiming timing) {
  Certificate certificate = cut_certificate(instance_, std::move(receivers));
  certificate.bytes = bytes;
  certificate.time = time;
  certificate.timing = std::move(timing);
  best_ = std::move(certificate);
}

/// Participants to search from: all, or within the budget half of them by least bandwidth (or id)
/// and half by walking to whoever is farthest. Where all see the same, one is as good as all.
std::vector<NodeId> TimedCuts::chosen(Toward direction) const {
  const auto all = instance_.collective.participants();
  std::vector<NodeId> order(all.begin(), all.end());
  if (order.size() <= searches_) {
    return order;
  }
  if (instance_.symmetric) {
    return {order.front()};
  }
  std::vector<Int128> bandwidth(network_.num_nodes(), 0);
  for (const Link& link : network_.links()) {
    bandwidth[(direction == Toward::kTo ? link.dst : link.src).index()] +=
        link.bandwidth.bytes_per_second;
  }
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) {
    return bandwidth[a.index()] < bandwidth[b.index()];
  });
  order.resize(searches_ / 2);
  NodeId at = order.front();
  std::vector<Ticks> nearest(network_.num_nodes(), kMaxTime);
  for (std::size_t i = 0; i < std::min(kFewSearches, searches_) / 2; ++i) {
    const std::vector<Ticks> distance = distances(network_, at, Toward::kFrom);
    for (std::size_t node = 0; node < nearest.size(); ++node) {
      nearest[node] = std::min(nearest[node], distance[node]);
    }
    at = *std::max_element(all.begin(), all.end(), [&](NodeId a, NodeId b) {
      return nearest[a.index()] < nearest[b.index()];
    });
    order.push_back(at);
  }
  return order;
}

/// Every radius around the target, for the cut whose crossings are given.
void TimedCuts::scan_radii(const std::vector<NodeId>& receivers,
                           NodeId target,
                           const std::vector<Ticks>& to_target,
                           std::vector<Crossing>& crossings) {
  sort_by_delay(crossings);
  Int128 bandwidth = 0;
  for (const Crossing& crossing : crossings) {
    bandwidth += crossing.bandwidth;
  }
  std::vector<std::uint8_t> inside(network_.num_nodes(), 0);
  for (const NodeId node : receivers) {
    inside[node.index()] = 1;
  }
  std::vector<NodeId> senders;
  for (const NodeId node : instance_.collective.participants()) {
    if (inside[node.index()] == 0) {
      senders.push_back(node);
    }
  }
  std::sort(senders.begin(), senders.end(), [&](NodeId a, NodeId b) {
    return to_target[a.index()] > to_target[b.index()];
  });
  std::int64_t bytes = 0;
  std::int64_t best_bytes = 0;
  std::optional<Ticks> best_time;
  Ticks best_radius;
  for (std::size_t i = 0; i < senders.size(); ++i) {
    bytes += instance_.shard[senders[i].index()];
    const Ticks radius = to_target[senders[i].index()];
    if (i + 1 < senders.size() && to_target[senders[i + 1].index()] == radius) {
      continue;
    }
    const std::optional<Ticks> time =
        radius >= crossings.back().delay
            ? std::optional(std::min(kMaxTime, radius + transfer_time(1, bytes, bandwidth)))
            : earliest(crossings, radius, bytes);
    if (is_better(time) && (!best_time || *time > *best_time)) {
      best_time = time;
      best_radius = radius;
      best_bytes = bytes;
    }
  }
  if (best_time) {
    keep(*best_time,
         best_bytes,
         receivers,
         {.target = target,
          .radius = best_radius,
          .to_target = to_target,
          .source = {},
          .from_source = {}});
  }
}

/// Whether a node is a switch into which all links lead from the target.
bool TimedCuts::only_hears_from(NodeId node, NodeId target) const {
  const auto links = network_.in_links(node);
  return !network_.is_npu(node) && std::all_of(links.begin(), links.end(), [&](LinkId link) {
    return network_.link(link).src == target;
  });
}

std::vector<NodeId> TimedCuts::receivers_around(NodeId target) const {
  std::vector<NodeId> receivers{target};
  for (const LinkId id : network_.in_links(target)) {
    const NodeId node = network_.link(id).src;
    if (only_hears_from(node, target) &&
        std::find(receivers.begin(), receivers.end(), node) == receivers.end()) {
      receivers.push_back(node);
    }
  }
  std::sort(receivers.begin(), receivers.end());
  return receivers;
}

void TimedCuts::gather_at(NodeId target) {
  const std::vector<Ticks> to_target = distances(network_, target, Toward::kTo);
  std::vector<Crossing> crossings;
  for (const LinkId id : network_.in_links(target)) {
    const Link& link = network_.link(id);
    if (!only_hears_from(link.src, target)) {
      crossings.push_back({link.latency, link.bandwidth.bytes_per_second});
    }
  }
  scan_radii(receivers_around(target), target, to_target, crossings);
}

/// The whole buffer of `source` into each single participant.
void TimedCuts::spread_from(NodeId source) {
  const std::vector<Ticks> from_source = distances(network_, source, Toward::kFrom);
  std::vector<Crossing> crossings;
  std::optional<NodeId> found;
  Ticks time = best_ ? best_->time : Ticks{0};
  for (const NodeId target : instance_.collective.participants()) {
    if (target == source) {
      continue;
    }
    crossings.clear();
    for (const LinkId id : network_.in_links(target)) {
      const Link& link = network_.link(id);
      if (!only_hears_from(link.src, target)) {
        crossings.push_back({std::min(kMaxTime, from_source[link.src.index()] + link.latency),
                             link.bandwidth.bytes_per_second});
      }
    }
    sort_by_delay(crossings);
    const std::optional<Ticks> reached = earliest(crossings, Ticks{0}, instance_.size());
    if (reached && *reached > time) {
      time = *reached;
      found = target;
    }
  }
  if (found) {
    keep(time,
         instance_.size(),
         receivers_around(*found),
         {.target = *found,
          .radius = Ticks{0},
          .to_target = distances(network_, *found, Toward::kTo),
          .source = source,
          .from_source = from_source});
  }
}

void TimedCuts::try_single_sinks() {
  const NodeId root = instance_.collective.root();
  if (one_target()) {
    gather_at(root);
  } else if (instance_.collective.kind() == CollectiveKind::kAllReduce) {
    for (const NodeId source : chosen(Toward::kFrom)) {
      spread_from(source);
    }
  } else if (one_source()) {
    spread_from(root);
  } else {
    for (const NodeId target : chosen(Toward::kTo)) {
      gather_at(target);
    }
  }
}

/// A set of several NPUs: the target is the one that is farthest inside.
void TimedCuts::try_cut(const std::vector<NodeId>& receivers) {
  const Collective& collective = instance_.collective;
  std::vector<std::uint8_t> inside(network_.num_nodes(), 0);
  for (const NodeId node : receivers) {
    inside[node.index()] = 1;
  }
  NodeId source = collective.root();
  if (collective.kind() == CollectiveKind::kAllReduce && inside[source.index()] != 0) {
    source = *std::find_if(collective.participants().begin(),
                           collective.participants().end(),
                           [&](NodeId node) { return inside[node.index()] == 0; });
  }
  const std::vector<Ticks> seen_from = distances(network_, source, Toward::kFrom);
  NodeId target = collective.root();
  if (!one_target()) {
    for (const NodeId node : collective.participants()) {
      if (inside[node.index()] != 0 &&
          (inside[target.index()] == 0 || seen_from[node.index()] > seen_from[target.index()])) {
        target = node;
      }
    }
  }
  const std::vector<Ticks> to_target = distances(network_, target, Toward::kTo);
  std::vector<Crossing> crossings;
  for (const Link& link : network_.links()) {
    if (inside[link.src.index()] == 0 && inside[link.dst.index()] != 0) {
      const Ticks before = one_source() ? seen_from[link.src.index()] : Ticks{0};
      const Ticks delay = std::min(
          kMaxTime, before + std::min(kMaxTime, link.latency + to_target[link.dst.index()]));
      crossings.push_back({delay, link.bandwidth.bytes_per_second});
    }
  }
  if (!one_source()) {
    scan_radii(receivers, target, to_target, crossings);
    return;
  }
  sort_by_delay(crossings);
  const std::optional<Ticks> time = earliest(crossings, Ticks{0}, instance_.size());
  if (is_better(time)) {
    keep(*time,
         instance_.size(),
         receivers,
         {.target = target,
          .radius = Ticks{0},
          .to_target = to_target,
          .source = source,
          .from_source = seen_from});
  }
}

}  // namespace

std::optional<Certificate> best_timed_cut(const Instance& instance,
                                          const std::vector<std::vector<NodeId>>& cuts,
                                          BoundEffort effort) {
  const auto links = instance.network.links();
  if (std::all_of(
          links.begin(), links.end(), [](const Link& link) { return link.latency == Ticks{0}; })) {
    return std::nullopt;
  }
  TimedCuts search(instance, effort);
  search.try_single_sinks();
  for (const std::vector<NodeId>& receivers : cuts) {
    // What an All-to-All brings to one target is little of what crosses a larger cut.
    if (receivers.size() > 1 && instance.collective.kind() != CollectiveKind::kAllToAll) {
      search.try_cut(receivers);
    }
  }
  return search.best();
}

}  // namespace tacos
