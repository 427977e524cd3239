// SPDX-License-Identifier: MIT
#include "synthesis/matching/ports/speed_levels.h"

#include <algorithm>
#include <numeric>

#include "base/csr.h"

namespace tacos::matching {
namespace {

/// Strongly connected components by two passes of depth-first search (Kosaraju), on the links that
/// `use` admits. O(nodes + links).
class Components {
 public:
  Components(std::span<const PortLink> links,
             std::span<const std::uint32_t> level,
             std::uint32_t below,
             std::uint32_t num_nodes)
      : links_(links), num_nodes_(num_nodes) {
    for (std::uint32_t link = 0; link < links.size(); ++link) {
      if (level[link] < below) {
        used_.push_back(link);
      }
    }
    out_ = {num_nodes, [&](const auto& add) {
              for (const std::uint32_t link : used_) {
                add(links_[link].src, link);
              }
            }};
    in_ = {num_nodes, [&](const auto& add) {
             for (const std::uint32_t link : used_) {
               add(links_[link].dst, link);
             }
           }};
  }

  /// Writes the number of each node's component.
  void number(std::span<std::uint32_t> component) {
    std::vector<std::uint32_t> finished;
    std::vector<bool> seen(num_nodes_, false);
    for (std::uint32_t node = 0; node < num_nodes_; ++node) {
      if (!seen[node]) {
        finish(node, seen, finished);
      }
    }
    std::fill(component.begin(), component.end(), num_nodes_);
    std::uint32_t count = 0;
    for (auto node = finished.rbegin(); node != finished.rend(); ++node) {
      if (component[*node] == num_nodes_) {
        spread(*node, count++, component);
      }
    }
  }

 private:
  void finish(std::uint32_t root, std::vector<bool>& seen, std::vector<std::uint32_t>& finished) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> stack{{root, 0}};
    seen[root] = true;
    while (!stack.empty()) {
      auto& [node, at] = stack.back();
      if (at == out_[node].size()) {
        finished.push_back(node);
        stack.pop_back();
        continue;
      }
      const std::uint32_t next = links_[out_[node][at++]].dst;
      if (!seen[next]) {
        seen[next] = true;
        stack.emplace_back(next, 0);
      }
    }
  }

  void spread(std::uint32_t root, std::uint32_t number, std::span<std::uint32_t> component) {
    std::vector<std::uint32_t> stack{root};
    component[root] = number;
    while (!stack.empty()) {
      const std::uint32_t node = stack.back();
      stack.pop_back();
      for (const std::uint32_t link : in_[node]) {
        const std::uint32_t next = links_[link].src;
        if (component[next] == num_nodes_) {
          component[next] = number;
          stack.push_back(next);
        }
      }
    }
  }

  std::span<const PortLink> links_;
  std::uint32_t num_nodes_;
  std::vector<std::uint32_t> used_;
  Csr<std::uint32_t> out_;
  Csr<std::uint32_t> in_;
};

}  // namespace

SpeedLevels::SpeedLevels(std::span<const PortLink> links, std::uint32_t num_nodes)
    : num_nodes_(num_nodes), level_(links.size()) {
  std::vector<std::uint32_t> order(links.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return links[a].pace < links[b].pace;
  });
  std::int64_t fastest = 0;
  for (const std::uint32_t link : order) {
    // Beyond 1.3 times the fastest of the level a new one begins.
    if (num_levels_ == 0 || 10 * (links[link].pace / 13) > fastest) {
      fastest = links[link].pace;
      ++num_levels_;
    }
    level_[link] = num_levels_ - 1;
  }
  component_.resize(std::size_t{num_levels_} * num_nodes);
  for (std::uint32_t level = 0; level < num_levels_; ++level) {
    Components(links, level_, level, num_nodes)
        .number(std::span(component_).subspan(std::size_t{level} * num_nodes, num_nodes));
  }
}

}  // namespace tacos::matching
