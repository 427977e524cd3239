// SPDX-License-Identifier: MIT
// All-to-All moves d bytes for every ordered pair of n participants: a concurrent flow. Its exact
// optimum is a linear program with n x links variables; by duality any lengths l >= 0 of the links
// give
//
//     T >= d * (sum over pairs of the distance under l) / (sum over links of l * bandwidth),
//
// and some lengths give the optimum (Shahrokhi and Matula 1990). A cut is the special case of
// length 1 across and 0 elsewhere. Three families, from cheap to dear:
// - cuts: single NPUs, components of fast links, and sweeps: order the nodes by how much nearer
//   they are to a than to b, for pairs (a, b), and try every prefix. On grids these are the slabs
//   of each dimension. O(links) a sweep.
// - length 1, and length 1/bandwidth, for every link: O(n x links) and O(n x links x log).
// - multiplicative weights (Garg and Koenemann 2007, all in integers): route every pair on shortest
//   paths, lengthen links by how loaded they are, repeat. While n x links is small.
// On ten of the eleven networks of the reference table the first two already reach the optimum.
#include "bound/all_to_all.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

namespace tacos {
namespace {

// Link visits: of searches by hops, of sweeps, of all rounds of multiplicative weights.
constexpr std::uint64_t kHopWork = 200'000'000;
constexpr std::uint64_t kSweepWork = 4'000'000;
constexpr std::uint64_t kWeightWork = 8'000'000;
constexpr std::int64_t kMostRounds = 120;
constexpr std::int64_t kLongest = 1LL << 30U;

class AllToAll {
 public:
  explicit AllToAll(const Instance& instance) : instance_(instance), network_(instance.network) {}

  void consider(Certificate candidate) {
    if (candidate.time > best_.time) {
      best_ = std::move(candidate);
    }
  }
  void sweep_cuts();
  void hop_volume();
  void inverse_bandwidths();
  void weighted_lengths();
  [[nodiscard]] Certificate& best() { return best_; }

 private:
  struct Tree {
    std::vector<std::int64_t> distance;
    std::vector<LinkId> link_to;
    /// Nodes in the order of their distance.
    std::vector<std::uint32_t> order;
  };

  [[nodiscard]] std::vector<std::int64_t> hops_from(NodeId node) const;
  void sweep(const std::vector<std::int64_t>& key);
  void shortest_paths(NodeId source, const std::vector<std::int64_t>& lengths, Tree& tree) const;
  /// Judges the lengths; adds to `load` how many pairs use each link.
  void try_lengths(const std::vector<std::int64_t>& lengths, std::vector<std::int64_t>& load);
  /// `total` is the sum of the distances under the lengths.
  void judge(const std::vector<std::int64_t>& lengths, Int128 total);

  const Instance& instance_;
  const Topology& network_;
  Certificate best_;
};

std::vector<std::int64_t> AllToAll::hops_from(NodeId node) const {
  std::vector<std::int64_t> hops(network_.num_nodes(), -1);
  std::vector<NodeId> queue{node};
  hops[node.index()] = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const LinkId id : network_.out_links(queue[at])) {
      const NodeId other = network_.link(id).dst;
      if (hops[other.index()] < 0) {
        hops[other.index()] = hops[queue[at].index()] + 1;
        queue.push_back(other);
      }
    }
  }
  return hops;
}

/// A set of nodes that grows one by one, and the bandwidth into and out of it.
class GrowingSet {
 public:
  explicit GrowingSet(const Instance& instance)
      : instance_(instance), inside_(instance.network.num_nodes(), 0) {}

  void add(NodeId node) {
    const Topology& network = instance_.network;
    inside_[node.index()] = 1;
    content_.participants += instance_.takes_part[node.index()];
    content_.shard_bytes += instance_.shard[node.index()];
    for (const LinkId id : network.out_links(node)) {
      const Link& link = network.link(id);
      cross(link.bandwidth, inside_[link.dst.index()] != 0, in_, out_);
    }
    for (const LinkId id : network.in_links(node)) {
      const Link& link = network.link(id);
      cross(link.bandwidth, inside_[link.src.index()] != 0, out_, in_);
    }
  }
  [[nodiscard]] const Inside& content() const { return content_; }
  [[nodiscard]] Int128 in() const { return in_; }
  [[nodiscard]] Int128 out() const { return out_; }

 private:
  /// A link to a node inside no longer crosses; any other now does.
  static void cross(Bandwidth bandwidth, bool to_inside, Int128& was, Int128& now) {
    if (to_inside) {
      was -= bandwidth.bytes_per_second;
    } else {
      now += bandwidth.bytes_per_second;
    }
  }

  const Instance& instance_;
  std::vector<std::uint8_t> inside_;
  Inside content_;
  Int128 in_ = 0;
  Int128 out_ = 0;
};

/// Every prefix of the nodes in the order of `key` that ends where the key changes, both ways.
void AllToAll::sweep(const std::vector<std::int64_t>& key) {
  std::vector<std::uint32_t> order(network_.num_nodes());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return key[a] < key[b];
  });
  GrowingSet prefix(instance_);
  Ticks best_time = best_.time;
  std::size_t best_end = 0;
  bool best_receives = true;
  for (std::size_t at = 0; at + 1 < order.size(); ++at) {
    prefix.add(NodeId(order[at]));
    const std::int64_t bytes = bytes_into(instance_, prefix.content());
    if (bytes == 0 || key[order[at + 1]] == key[order[at]]) {
      continue;
    }
    const Ticks time = transfer_time(1, bytes, std::min(prefix.in(), prefix.out()));
    if (time > best_time) {
      best_time = time;
      best_end = at + 1;
      best_receives = prefix.in() <= prefix.out();
    }
  }
  if (best_end == 0) {
    return;
  }
  std::vector<NodeId> receivers;
  for (std::size_t at = 0; at < order.size(); ++at) {
    if ((at < best_end) == best_receives) {
      receivers.emplace_back(order[at]);
    }
  }
  consider(cut_certificate(instance_, std::move(receivers)));
}

void AllToAll::sweep_cuts() {
  // Corners: each is as far as can be from those before.
  const auto all = instance_.collective.participants();
  const std::uint64_t budget = kSweepWork / (network_.num_working_links() + std::uint64_t{1}) + 4;
  std::vector<std::vector<std::int64_t>> hops;
  std::vector<std::int64_t> nearest(network_.num_nodes(), kLongest);
  NodeId corner = all.front();
  while (hops.size() < all.size() && hops.size() * hops.size() / 2 < budget) {
    hops.push_back(hops_from(corner));
    for (std::size_t node = 0; node < nearest.size(); ++node) {
      nearest[node] = std::min(nearest[node], hops.back()[node]);
    }
    corner = *std::max_element(all.begin(), all.end(), [&](NodeId a, NodeId b) {
      return nearest[a.index()] < nearest[b.index()];
    });
  }
  std::vector<std::int64_t> key(network_.num_nodes());
  for (std::size_t a = 0; a < hops.size(); ++a) {
    sweep(hops[a]);
    for (std::size_t b = a + 1; b < hops.size(); ++b) {
      std::transform(hops[a].begin(), hops[a].end(), hops[b].begin(), key.begin(), std::minus<>());
      sweep(key);
    }
  }
}

void AllToAll::shortest_paths(NodeId source,
                              const std::vector<std::int64_t>& lengths,
                              Tree& tree) const {
  using Entry = std::pair<std::int64_t, std::uint32_t>;
  constexpr std::int64_t kFar = std::int64_t{1} << 62U;
  tree.distance.assign(network_.num_nodes(), kFar);
  tree.link_to.assign(network_.num_nodes(), LinkId());
  tree.order.clear();
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  tree.distance[source.index()] = 0;
  queue.emplace(0, source.value());
  while (!queue.empty()) {
    const auto [d, node] = queue.top();
    queue.pop();
    if (d > tree.distance[node]) {
      continue;
    }
    tree.order.push_back(node);
    for (const LinkId id : network_.out_links(NodeId(node))) {
      const NodeId other = network_.link(id).dst;
      if (d + lengths[id.index()] < tree.distance[other.index()]) {
        tree.distance[other.index()] = d + lengths[id.index()];
        tree.link_to[other.index()] = id;
        queue.emplace(tree.distance[other.index()], other.value());
      }
    }
  }
}

void AllToAll::try_lengths(const std::vector<std::int64_t>& lengths,
                           std::vector<std::int64_t>& load) {
  Int128 total = 0;
  Tree tree;
  std::vector<std::int64_t> below;
  for (const NodeId source : instance_.collective.participants()) {
    shortest_paths(source, lengths, tree);
    for (const NodeId node : instance_.collective.participants()) {
      total += tree.distance[node.index()];
    }
    below.assign(instance_.takes_part.begin(), instance_.takes_part.end());
    for (std::size_t at = tree.order.size(); at-- > 1;) {
      const std::uint32_t node = tree.order[at];
      const LinkId link = tree.link_to[node];
      load[link.index()] += below[node];
      below[network_.link(link).src.index()] += below[node];
    }
  }
  judge(lengths, total);
}

void AllToAll::judge(const std::vector<std::int64_t>& lengths, Int128 total) {
  Int128 volume = 0;
  for (std::size_t id = 0; id < lengths.size(); ++id) {
    const Link& link = network_.all_links()[id];
    volume += network_.failed(LinkId(static_cast<std::uint32_t>(id)))
                  ? 0
                  : Int128{lengths[id]} * link.bandwidth.bytes_per_second;
  }
  const std::int64_t bytes = instance_.shard[instance_.collective.participants().front().index()];
  // The arithmetic of transfer_time must fit: copies x bytes x 10^12 below 2^127.
  if (total == 0 || total != saturated(total) || total > kMaxInt128 / kPsPerSecond / bytes) {
    return;
  }
  Certificate candidate;
  candidate.kind = CertificateKind::kLengths;
  candidate.copies = saturated(total);
  candidate.bytes = bytes;
  candidate.bandwidth = saturated(volume);
  candidate.time = transfer_time(candidate.copies, bytes, volume);
  if (candidate.time > best_.time) {
    candidate.lengths = lengths;
    best_ = std::move(candidate);
  }
}

void AllToAll::hop_volume() {
  Int128 total = 0;
  for (const NodeId source : instance_.collective.participants()) {
    const std::vector<std::int64_t> hops = hops_from(source);
    for (const NodeId node : instance_.collective.participants()) {
      total += hops[node.index()];
    }
  }
  judge(std::vector<std::int64_t>(network_.num_links(), 1), total);
}

void AllToAll::inverse_bandwidths() {
  std::int64_t fastest = 0;
  for (const Link& link : network_.links()) {
    fastest = std::max(fastest, link.bandwidth.bytes_per_second);
  }
  std::vector<std::int64_t> lengths(network_.num_links(), 1);
  for (std::size_t link = 0; link < lengths.size(); ++link) {
    const std::int64_t speed = network_.all_links()[link].bandwidth.bytes_per_second;
    lengths[link] = std::min(kLongest, std::max<std::int64_t>(1, fastest / speed));
  }
  std::vector<std::int64_t> load(network_.num_links(), 0);
  try_lengths(lengths, load);
}

void AllToAll::weighted_lengths() {
  const std::uint64_t round =
      std::uint64_t{instance_.num_participants()} * network_.num_working_links();
  const auto rounds =
      std::min<std::int64_t>(kMostRounds, static_cast<std::int64_t>(kWeightWork / (round + 1)));
  constexpr std::int64_t kStart = 1 << 16U;
  std::vector<std::int64_t> lengths(network_.num_links(), kStart);
  std::vector<std::int64_t> load(network_.num_links());
  for (std::int64_t i = 0; i < rounds; ++i) {
    std::fill(load.begin(), load.end(), 0);
    try_lengths(lengths, load);
    // The relative load of the fullest link, in 2^20ths of a second for each byte.
    Int128 fullest = 1;
    const auto fullness = [&](std::size_t link) {
      return (Int128{load[link]} << 80U) / network_.all_links()[link].bandwidth.bytes_per_second;
    };
    for (std::size_t link = 0; link < lengths.size(); ++link) {
      fullest = std::max(fullest, fullness(link));
    }
    // Steps shrink with the square root of the round, roughly: 1/4 at first, 1/32 at the end.
    const Int128 step = 4 + i / 4;
    std::int64_t longest = 0;
    for (std::size_t link = 0; link < lengths.size(); ++link) {
      const Int128 longer =
          lengths[link] + lengths[link] * (fullness(link) >> 20U) / ((fullest >> 20U) * step + 1);
      lengths[link] = static_cast<std::int64_t>(longer);
      longest = std::max(longest, lengths[link]);
    }
    while (longest > (kLongest >> 4U)) {
      longest /= 2;
      for (std::int64_t& length : lengths) {
        length = std::max<std::int64_t>(1, length / 2);
      }
    }
  }
}

}  // namespace

Certificate best_all_to_all(const Instance& instance,
                            const std::vector<NodeId>& hint,
                            BoundEffort effort) {
  AllToAll search(instance);
  search.consider(cut_certificate(instance, hint));
  if (effort == BoundEffort::kCheap) {
    return std::move(search.best());
  }
  search.sweep_cuts();
  const std::uint64_t pairs =
      std::uint64_t{instance.num_participants()} * instance.network.num_working_links();
  if (pairs <= kHopWork) {
    search.hop_volume();
  }
  if (pairs <= kWeightWork) {
    search.inverse_bandwidths();
    search.weighted_lengths();
  }
  return std::move(search.best());
}

}  // namespace tacos
