// SPDX-License-Identifier: MIT
#include "synthesis/exchange/hops.h"

#include <algorithm>
#include <compare>
#include <functional>
#include <queue>
#include <utility>

namespace tacos::exchange {
namespace {

struct Cost {
  Ticks latency = kMaxTime;
  std::uint32_t links = 0;

  friend auto operator<=>(const Cost&, const Cost&) = default;
};

/// The way to one participant, seen from everywhere.
class WaysTo {
 public:
  WaysTo(const Topology& topology, NodeId dst)
      : topology_(topology), dst_(dst), costs_(topology.num_nodes()) {
    using Entry = std::pair<Cost, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
    costs_[dst.index()] = {.latency = {}, .links = 0};
    next.emplace(costs_[dst.index()], dst);
    while (!next.empty()) {
      const auto [cost, node] = next.top();
      next.pop();
      if (cost != costs_[node.index()] || !passes(node)) {
        continue;
      }
      for (const LinkId id : topology.in_links(node)) {
        const Link& link = topology.link(id);
        const Cost longer = behind(link);
        if (longer < costs_[link.src.index()]) {
          costs_[link.src.index()] = longer;
          next.emplace(longer, link.src);
        }
      }
    }
    shortest_ = {topology.num_nodes(), [&](const auto& add) {
                   for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
                     const Link& link = topology.link(LinkId(id));
                     const Cost whole = behind(link);
                     if (!topology.failed(LinkId(id)) && whole.latency < kMaxTime &&
                         whole == costs_[link.src.index()]) {
                       add(link.src.index(), LinkId(id));
                     }
                   }
                 }};
  }

  /// Of a route that begins with a link.
  [[nodiscard]] Cost behind(const Link& link) const {
    const Cost& after = costs_[link.dst.index()];
    if (!passes(link.dst) || after.latency >= kMaxTime) {
      return {};
    }
    return {.latency = after.latency + link.latency, .links = after.links + 1};
  }

  /// Where several links are equally good, `turn` decides.
  void follow(LinkId first, std::uint32_t turn, std::vector<LinkId>& route) const {
    route.assign(1, first);
    for (NodeId node = topology_.link(first).dst; node != dst_;) {
      const auto links = shortest_[node.index()];
      const auto count = static_cast<std::uint32_t>(links.size());
      route.push_back(links[turn % count]);
      turn /= count;
      node = topology_.link(route.back()).dst;
    }
  }

 private:
  [[nodiscard]] bool passes(NodeId node) const { return node == dst_ || topology_.forwards(node); }

  const Topology& topology_;
  NodeId dst_;
  std::vector<Cost> costs_;
  /// By node: the first links of its shortest ways.
  Csr<LinkId> shortest_;
};

}  // namespace

Hops::Hops(const Topology& topology, std::span<const NodeId> participants, Bytes message)
    : size_(static_cast<std::uint32_t>(participants.size())),
      times_(participants.size() * participants.size(), kMaxTime) {
  std::vector<WaysTo> ways;
  ways.reserve(size_);
  for (const NodeId npu : participants) {
    ways.emplace_back(topology, npu);
  }
  std::vector<Ticks> bytes(topology.num_links());
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    bytes[id] = serialization_time(message, topology.link(LinkId(id)).bandwidth);
  }
  std::vector<std::pair<Ticks, LinkId>> firsts;
  std::vector<LinkId> route;
  std::uint32_t count = 0;
  for (std::uint32_t from = 0; from < size_; ++from) {
    for (std::uint32_t to = 0; to < size_; ++to) {
      firsts.clear();
      for (const LinkId id : topology.out_links(participants[from])) {
        const Ticks latency = ways[to].behind(topology.link(id)).latency;
        if (from != to && latency < kMaxTime) {
          firsts.emplace_back(latency + bytes[id.index()], id);
        }
      }
      std::sort(firsts.begin(), firsts.end());
      firsts.resize(std::min(firsts.size(), kMostAlternatives));
      for (std::uint32_t i = 0; i < firsts.size(); ++i) {
        ways[to].follow(firsts[i].second, to + i, route);
        for (const LinkId link : route) {
          routes_.push_back(link);
          are_even_ =
              are_even_ && topology.link(link).bandwidth == topology.link(route.front()).bandwidth;
        }
        routes_.end_row();
        between_.push_back(count++);
      }
      between_.end_row();
      if (!firsts.empty()) {
        times_[std::size_t{from} * size_ + to] = firsts.front().first;
      }
    }
  }
}

}  // namespace tacos::exchange
