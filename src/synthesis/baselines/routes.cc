// SPDX-License-Identifier: MIT
#include "synthesis/baselines/routes.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace tacos::baselines {

Routes::Cost Routes::through(const Cost& after, NodeId node, NodeId dst, const Link& link) const {
  return {.npus = after.npus + (node != dst && topology_.is_npu(node) ? 1 : 0),
          .links = after.links + 1,
          .latency = after.latency + link.latency};
}

std::span<const Routes::Cost> Routes::costs_to(NodeId dst) {
  const std::size_t nodes = topology_.num_nodes();
  std::uint32_t& row = costs_of_[dst.index()];
  if (row == kNone) {
    row = static_cast<std::uint32_t>(costs_.size() / nodes);
    costs_.resize(costs_.size() + nodes);
    next_of_.resize(costs_.size());
    Cost* const costs = &costs_[row * nodes];
    using Entry = std::pair<Cost, NodeId>;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> next;
    costs[dst.index()] = {.npus = 0, .links = 0, .latency = {}};
    next.emplace(costs[dst.index()], dst);
    while (!next.empty()) {
      const auto [cost, node] = next.top();
      next.pop();
      if (cost != costs[node.index()] || (node != dst && !topology_.forwards(node))) {
        continue;
      }
      for (const LinkId id : topology_.in_links(node)) {
        const Link& link = topology_.link(id);
        const Cost longer = through(cost, node, dst, link);
        if (longer < costs[link.src.index()]) {
          costs[link.src.index()] = longer;
          next.emplace(longer, link.src);
        }
      }
    }
  }
  return std::span(costs_).subspan(row * nodes, nodes);
}

std::span<const LinkId> Routes::next_links(NodeId node, NodeId dst) {
  const std::uint32_t row = costs_of_[dst.index()];
  if (row != kNone) {
    const NextLinks known = next_of_[std::size_t{row} * topology_.num_nodes() + node.index()];
    if (known.first != kNone) {
      return std::span(next_links_).subspan(known.first, known.count);
    }
  }
  const std::span<const Cost> costs = costs_to(dst);
  NextLinks& next = next_of_[costs_of_[dst.index()] * costs.size() + node.index()];
  if (next.first == kNone) {
    next.first = static_cast<std::uint32_t>(next_links_.size());
    for (const LinkId id : topology_.out_links(node)) {
      const Link& link = topology_.link(id);
      const Cost& after = costs[link.dst.index()];
      if (after.links != kNone && (link.dst == dst || topology_.forwards(link.dst)) &&
          through(after, link.dst, dst, link) == costs[node.index()]) {
        next_links_.push_back(id);
      }
    }
    next.count = static_cast<std::uint32_t>(next_links_.size()) - next.first;
  }
  return std::span(next_links_).subspan(next.first, next.count);
}

void Routes::unload() {
  std::fill(load_.begin(), load_.end(), Load{});
}

std::span<const LinkId> Routes::route(NodeId src, NodeId dst, Bytes bytes) {
  links_.clear();
  const std::span<const Cost> costs = costs_to(dst);
  if (costs[src.index()].links == kNone) {
    return links_;
  }
  for (NodeId node = src; node != dst;) {
    LinkId best;
    for (const LinkId id : next_links(node, dst)) {
      if (!best.valid() || load_[id.index()].sum < load_[best.index()].sum) {
        best = id;
      }
    }
    Load& load = load_[best.index()];
    if (load.bytes != bytes) {
      load.bytes = bytes;
      load.each = static_cast<double>(serialization_time(bytes, topology_.link(best).bandwidth).ps);
    }
    load.sum += load.each;
    links_.push_back(best);
    node = topology_.link(best).dst;
  }
  return links_;
}

std::span<const LinkId> Routes::only_route(NodeId src, NodeId dst) {
  links_.clear();
  for (NodeId node = src; node != dst && joins(src, dst);) {
    const auto next = next_links(node, dst);
    if (next.size() > 1) {
      links_.clear();
      break;
    }
    links_.push_back(next.front());
    node = topology_.link(next.front()).dst;
  }
  return links_;
}

}  // namespace tacos::baselines
