// SPDX-License-Identifier: MIT
// Packing of Steiner trees by prices, in integers.
//
// Problem: every root has chunks for all of a group; NPUs outside may relay and copy. One tree for
// each chunk, so that the fullest link has as little to do as possible. (Where all links go both
// ways, trees that reach the cut bound exist: the others can be split off one after the other
// without lowering the cuts between participants (Bang-Jensen, Frank, Jackson 1995), and on the
// participants alone spanning trees do (Edmonds 1973).)
//
// Idea: as for paths (common/path_balance.cc). Prices grow exponentially with load; trees are
// dealt out in rounds, one for each root, then each is taken out and grown again, sweep after
// sweep, and the new one is kept when it lowers the potential. A tree grows by the cheapest path
// from any of its NPUs to any participant that it lacks (Takahashi and Matsuyama 1980), in a single
// search: a path that joins the tree makes its NPUs sources of the search that goes on. Switches
// do not copy, so they never become sources.
//
// Invariant: distances only fall, and a node's predecessor is always nearer than the node, so
// every path leads back to the tree.
//
// Cost: a tree takes about one Dijkstra, O(links x log), a sweep as many as there are trees.
#include "synthesis/multicast/steiner_trees.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/assert.h"
#include "base/numbers/rng.h"
#include "base/parallel/cancel.h"
#include "synthesis/common/link_prices.h"

namespace tacos::multicast {
namespace {

constexpr std::uint64_t kFar = ~std::uint64_t{0};

/// Branches of one tree.
struct Tree {
  std::vector<std::uint32_t> first{0};
  std::vector<LinkId> links;

  void clear() {
    first.assign(1, 0);
    links.clear();
  }
};

class TreePacker {
 public:
  TreePacker(const Topology& topology,
             std::span<const NodeId> group,
             std::span<const NodeId> roots,
             std::uint32_t trees_per_root,
             Bytes chunk_bytes,
             const SteinerOptions& options)
      : topology_(topology),
        roots_(roots),
        trees_per_root_(trees_per_root),
        options_(options),
        num_participants_(static_cast<std::uint32_t>(group.size())),
        prices_(topology, chunk_bytes, options.link_model),
        trees_(roots.size() * trees_per_root),
        wanted_(topology.num_nodes(), false),
        joined_(topology.num_nodes(), 0),
        depth_(topology.num_nodes(), 0),
        link_to_(topology.num_nodes()) {
    for (const NodeId participant : group) {
      wanted_[participant.index()] = true;
    }
  }

  SteinerTrees run() {
    prices_.begin(options_.sweeps);
    for (std::uint32_t round = 0; round < trees_per_root_; ++round) {
      for (std::uint32_t root = 0; root < roots_.size(); ++root) {
        grow(roots_[root]);
        for (const LinkId link : grown_.links) {
          prices_.add_first(link);
          if (!options_.twins.empty()) {
            prices_.add_first(options_.twins[link.index()]);
          }
        }
        trees_[std::size_t{root} * trees_per_root_ + round] = grown_;
      }
    }
    prices_.sweep(options_.sweeps, [&](std::uint32_t sweep) { return reconsider_all(sweep); });
    return take();
  }

 private:
  using Entry = std::pair<std::uint64_t, std::uint32_t>;

  void push(std::uint64_t distance, std::uint32_t node) {
    heap_.emplace_back(distance, node);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  [[nodiscard]] bool is_joined(NodeId node) const { return joined_[node.index()] == mark_; }

  /// From now on branches may begin at the NPU.
  void join(NodeId npu, std::uint64_t depth) {
    joined_[npu.index()] = mark_;
    depth_[npu.index()] = depth;
    const std::uint64_t label = depth * price_of_depth();
    if (label < distance_[npu.index()]) {
      distance_[npu.index()] = label;
    }
    push(distance_[npu.index()], npu.value());
  }

  [[nodiscard]] std::uint64_t price_of_depth() const {
    return std::uint64_t{1} << options_.depth_bits;
  }

  /// A tree from the root to all participants, into grown_.
  void grow(NodeId root) {
    ++mark_;
    grown_.clear();
    distance_.assign(topology_.num_nodes(), kFar);
    heap_.clear();
    check_cancel();
    join(root, 0);
    for (std::uint32_t left = num_participants_ - 1; left > 0;) {
      TACOS_ASSERT(!heap_.empty(), "every participant is reachable");
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const auto [distance, number] = heap_.back();
      heap_.pop_back();
      if (distance > distance_[number]) {
        continue;
      }
      const NodeId node(number);
      if (wanted_[number] && !is_joined(node)) {
        left -= add_branch(node);
      } else {
        relax(node, distance);
      }
    }
  }

  void relax(NodeId node, std::uint64_t distance) {
    for (const LinkId id : topology_.out_links(node)) {
      const NodeId next = topology_.link(id).dst;
      const std::uint64_t via = distance + prices_.of_next(id);
      if (via < distance_[next.index()] && !is_joined(next)) {
        distance_[next.index()] = via;
        link_to_[next.index()] = id;
        push(via, next.value());
      }
    }
  }

  /// The path by which the search came to the node; returns how many participants it joins.
  std::uint32_t add_branch(NodeId to) {
    const auto begin = static_cast<std::ptrdiff_t>(grown_.links.size());
    NodeId node = to;
    while (!is_joined(node)) {
      grown_.links.push_back(link_to_[node.index()]);
      node = topology_.link(grown_.links.back()).src;
    }
    std::reverse(grown_.links.begin() + begin, grown_.links.end());
    grown_.first.push_back(static_cast<std::uint32_t>(grown_.links.size()));
    std::uint64_t depth = depth_[node.index()];
    std::uint32_t participants = 0;
    for (auto at = grown_.links.begin() + begin; at != grown_.links.end(); ++at) {
      depth += prices_.time(*at);
      const NodeId reached = topology_.link(*at).dst;
      if (topology_.is_npu(reached)) {
        participants += wanted_[reached.index()] ? 1 : 0;
        join(reached, depth);
      }
    }
    return participants;
  }

  bool reconsider_all(std::uint32_t sweep) {
    bool moved = false;
    const auto count = static_cast<std::uint32_t>(trees_.size());
    const std::uint32_t begin = Rng(mix64(options_.seed, sweep)).below(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      moved = reconsider((begin + i) % count) || moved;
    }
    return moved;
  }

  /// Grows the tree anew if that lowers the potential.
  bool reconsider(std::uint32_t number) {
    Tree& tree = trees_[number];
    std::uint64_t saved = 0;
    for (const LinkId link : tree.links) {
      saved += prices_.of_last(link);
      remove(link);
    }
    grow(roots_[number / trees_per_root_]);
    std::uint64_t paid = 0;
    for (const LinkId link : grown_.links) {
      paid += prices_.of_next(link);
      add(link);
    }
    if (paid < saved) {
      std::swap(tree, grown_);
      return true;
    }
    for (const LinkId link : grown_.links) {
      remove(link);
    }
    for (const LinkId link : tree.links) {
      add(link);
    }
    return false;
  }

  // Twins always have equal loads, so the price of one is that of both.
  void add(LinkId link) {
    prices_.add(link);
    if (!options_.twins.empty()) {
      prices_.add(options_.twins[link.index()]);
    }
  }
  void remove(LinkId link) {
    prices_.remove(link);
    if (!options_.twins.empty()) {
      prices_.remove(options_.twins[link.index()]);
    }
  }

  SteinerTrees take() {
    SteinerTrees made;
    for (const Tree& tree : trees_) {
      const auto before = static_cast<std::uint32_t>(made.branches.links.size());
      for (std::size_t branch = 1; branch < tree.first.size(); ++branch) {
        made.branches.first.push_back(before + tree.first[branch]);
      }
      made.branches.links.insert(made.branches.links.end(), tree.links.begin(), tree.links.end());
      made.first.push_back(static_cast<std::uint32_t>(made.branches.first.size() - 1));
    }
    return made;
  }

  const Topology& topology_;
  std::span<const NodeId> roots_;
  std::uint32_t trees_per_root_;
  SteinerOptions options_;
  std::uint32_t num_participants_;
  LinkPrices prices_;
  std::vector<Tree> trees_;
  std::vector<bool> wanted_;

  // Of the tree that grows.
  Tree grown_;
  std::uint32_t mark_ = 0;
  /// Equal to mark_ for NPUs of the tree.
  std::vector<std::uint32_t> joined_;
  /// Of NPUs of the tree: time from the root, scaled.
  std::vector<std::uint64_t> depth_;
  std::vector<std::uint64_t> distance_;
  std::vector<LinkId> link_to_;
  std::vector<Entry> heap_;
};

}  // namespace

SteinerTrees pack_steiner_trees(const Topology& topology,
                                std::span<const NodeId> group,
                                std::span<const NodeId> roots,
                                std::uint32_t trees_per_root,
                                Bytes chunk_bytes,
                                const SteinerOptions& options) {
  return TreePacker(topology, group, roots, trees_per_root, chunk_bytes, options).run();
}

}  // namespace tacos::multicast
