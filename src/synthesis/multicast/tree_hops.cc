// SPDX-License-Identifier: MIT
#include "synthesis/multicast/tree_hops.h"

#include <algorithm>
#include <utility>

namespace tacos::multicast {
namespace {

constexpr std::uint32_t kNoHop = ~std::uint32_t{0};
/// Hops are ranked as if no way took longer.
constexpr std::int64_t kLongWay = std::int64_t{1} << 60U;

std::int64_t duration(const Topology& topology, std::span<const LinkId> links, Bytes bytes) {
  std::int64_t latency = 0;
  std::int64_t slowest = 0;
  for (const LinkId id : links) {
    const Link& link = topology.link(id);
    latency = std::min(kLongWay, latency + std::min(kLongWay, link.latency.ps));
    slowest = std::max(slowest, serialization_time(bytes, link.bandwidth).ps);
  }
  return std::min(kLongWay, latency + std::min(kLongWay, slowest));
}

/// Of each hop: how long the longest way goes on after it.
std::vector<std::int64_t> ways_below(const replay::Itineraries& itineraries,
                                     std::span<const std::int64_t> duration_of_route) {
  // What comes after a hop has a higher number, so one walk backwards is enough.
  std::vector<std::int64_t> below(itineraries.hops.size(), 0);
  for (std::uint32_t message = itineraries.num_messages(); message-- > 0;) {
    const std::uint32_t first = itineraries.first[message];
    for (std::uint32_t hop = itineraries.first[message + 1]; hop-- > first;) {
      const std::int64_t way =
          std::min(kLongWay, below[hop] + duration_of_route[itineraries.hops[hop]]);
      if (hop > first) {
        below[hop - 1] = std::max(below[hop - 1], way);
        continue;
      }
      for (const std::uint32_t before : itineraries.waits_of(message)) {
        below[before] = std::max(below[before], way);
      }
    }
  }
  return below;
}

/// How long the fullest link is busy, latencies left out.
std::int64_t fullest(const Topology& topology,
                     const replay::Itineraries& itineraries,
                     const replay::RouteTable& routes,
                     Bytes bytes) {
  std::vector<std::int64_t> load(topology.num_links(), 0);
  std::int64_t most = 0;
  for (const replay::RouteId route : itineraries.hops) {
    for (const LinkId link : routes.links(route)) {
      const std::int64_t time = serialization_time(bytes, topology.link(link).bandwidth).ps;
      load[link.index()] = std::min(kLongWay, load[link.index()] + std::min(kLongWay, time));
      most = std::max(most, load[link.index()]);
    }
  }
  return most;
}

/// Calls visit(tree, chunk) for every chunk; those of a root take its trees in turn.
template <class Visit>
void for_each_chunk(const SteinerTrees& trees,
                    std::uint32_t trees_per_root,
                    std::uint32_t chunks_per_root,
                    const Visit& visit) {
  const auto num_roots = static_cast<std::uint32_t>((trees.first.size() - 1) / trees_per_root);
  for (std::uint32_t chunk = 0; chunk < num_roots * chunks_per_root; ++chunk) {
    const std::uint32_t turn = chunk % chunks_per_root % trees_per_root;
    visit(chunk / chunks_per_root * trees_per_root + turn, chunk);
  }
}

/// Appends the messages of one chunk after the other. What a message waits for comes before it.
class MessageMaker {
 public:
  MessageMaker(const Topology& topology, replay::RouteTable& routes)
      : topology_(topology), routes_(routes), last_to_(topology.num_nodes(), kNoHop) {
    made_.itineraries.first_wait.push_back(0);
  }

  /// Every branch a message, which waits for what brings the chunk to where it begins.
  void go_down(const SteinerTrees& trees, std::uint32_t tree, std::uint32_t chunk) {
    for (std::uint32_t branch = trees.first[tree]; branch < trees.first[tree + 1]; ++branch) {
      const auto path = trees.branches.of(branch);
      add_message(path, chunk, Op::kCopy);
      // From now on what leaves an NPU waits for the copy alone.
      const std::uint32_t first = made_.itineraries.first[made_.itineraries.num_messages() - 1];
      for (std::uint32_t hop = first; hop < made_.itineraries.hops.size(); ++hop) {
        last_to_[end_of(hop).index()] = hop;
        before_[hop] = kNoHop;
      }
    }
    forget(trees, tree);
  }

  /// Every hop a message, the last branches first: an NPU sends its sum when all of it is there.
  void go_up(const SteinerTrees& trees,
             std::uint32_t tree,
             std::uint32_t chunk,
             std::span<const LinkId> twins) {
    for (std::uint32_t branch = trees.first[tree + 1]; branch-- > trees.first[tree];) {
      const auto path = trees.branches.of(branch);
      for (std::size_t at = path.size(); at-- > 0;) {
        turned_.push_back(twins[path[at].index()]);
        if (topology_.is_npu(topology_.link(turned_.back()).dst)) {
          add_message(turned_, chunk, Op::kReduce);
          const auto hop = static_cast<std::uint32_t>(made_.itineraries.hops.size() - 1);
          before_[hop] = std::exchange(last_to_[end_of(hop).index()], hop);
          turned_.clear();
        }
      }
    }
    // Only the root's sum is complete; the others send nothing before the copy comes.
  }

  TreeMessages take() && { return std::move(made_); }

 private:
  [[nodiscard]] NodeId end_of(std::uint32_t hop) const {
    return topology_.link(routes_.links(made_.itineraries.hops[hop]).back()).dst;
  }

  void add_message(std::span<const LinkId> path, std::uint32_t chunk, Op op) {
    replay::Itineraries& itineraries = made_.itineraries;
    const NodeId from = topology_.link(path.front()).src;
    for (std::uint32_t hop = last_to_[from.index()]; hop != kNoHop; hop = before_[hop]) {
      itineraries.waits.push_back(hop);
    }
    itineraries.first_wait.push_back(static_cast<std::uint32_t>(itineraries.waits.size()));
    append_itinerary(topology_, path, routes_, itineraries);
    before_.resize(itineraries.hops.size(), kNoHop);
    made_.chunk.push_back(chunk);
    made_.op.push_back(op);
  }

  void forget(const SteinerTrees& trees, std::uint32_t tree) {
    for (std::uint32_t branch = trees.first[tree]; branch < trees.first[tree + 1]; ++branch) {
      for (const LinkId link : trees.branches.of(branch)) {
        last_to_[topology_.link(link).src.index()] = kNoHop;
        last_to_[topology_.link(link).dst.index()] = kNoHop;
      }
    }
  }

  const Topology& topology_;
  replay::RouteTable& routes_;
  TreeMessages made_;
  /// Hops that must have come before a node can send the chunk on: the last one, and of each hop
  /// the one before it.
  std::vector<std::uint32_t> last_to_;
  std::vector<std::uint32_t> before_;
  std::vector<LinkId> turned_;
};

}  // namespace

TreeMessages make_tree_messages(const Topology& topology,
                                const SteinerTrees& trees,
                                std::uint32_t trees_per_root,
                                std::uint32_t chunks_per_root,
                                replay::RouteTable& routes) {
  MessageMaker maker(topology, routes);
  for_each_chunk(trees, trees_per_root, chunks_per_root, [&](auto tree, auto chunk) {
    maker.go_down(trees, tree, chunk);
  });
  return std::move(maker).take();
}

TreeMessages make_all_reduce_messages(const Topology& topology,
                                      const SteinerTrees& trees,
                                      std::uint32_t trees_per_root,
                                      std::uint32_t chunks_per_root,
                                      std::span<const LinkId> twins,
                                      replay::RouteTable& routes) {
  MessageMaker maker(topology, routes);
  for_each_chunk(trees, trees_per_root, chunks_per_root, [&](auto tree, auto chunk) {
    maker.go_up(trees, tree, chunk, twins);
    maker.go_down(trees, tree, chunk);
  });
  return std::move(maker).take();
}

std::vector<std::int64_t> tree_ranks(const Topology& topology,
                                     const TreeMessages& messages,
                                     std::uint32_t chunks_per_root,
                                     const replay::RouteTable& routes,
                                     Bytes chunk_bytes,
                                     TreeOrder order) {
  std::vector<std::int64_t> times(routes.size());
  for (replay::RouteId route = 0; route < routes.size(); ++route) {
    times[route] = duration(topology, routes.links(route), chunk_bytes);
  }
  const replay::Itineraries& itineraries = messages.itineraries;
  std::vector<std::int64_t> ranks = ways_below(itineraries, times);
  std::int64_t pace = 0;
  if (order == TreeOrder::kPaced) {
    pace = fullest(topology, itineraries, routes, chunk_bytes) / chunks_per_root;
  } else if (order == TreeOrder::kInTurn && !ranks.empty()) {
    pace = *std::max_element(ranks.begin(), ranks.end()) + 1;
  }
  pace = std::min(pace, kLongWay / chunks_per_root);
  for (std::uint32_t message = 0; message < itineraries.num_messages(); ++message) {
    const std::uint32_t turn = messages.chunk[message] % chunks_per_root;
    const std::int64_t ahead = pace * (chunks_per_root - 1 - turn);
    for (std::uint32_t at = itineraries.first[message]; at < itineraries.first[message + 1]; ++at) {
      ranks[at] += ahead;
    }
  }
  return ranks;
}

}  // namespace tacos::multicast
