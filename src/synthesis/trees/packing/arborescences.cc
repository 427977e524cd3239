// SPDX-License-Identifier: MIT
// Theorem (Edmonds 1973): if every NPU can be sent k units at a time from the root, k spanning
// trees away from the root fit into the network side by side.
//
// Algorithm (Lovasz 1976). One tree after the other. A hop from the tree to an NPU outside may
// be added when without it that NPU can still be sent what the trees to come need; some hop
// always may. The nearest to the root is tried first, so that trees stay shallow.
//
// Cost: a maximum flow of up to k units for each tree and hop, O(k^2 hops^2) in all.
#include "synthesis/trees/packing/arborescences.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/parallel/cancel.h"

namespace tacos::trees {
namespace {

constexpr std::int64_t kMostTrees = 48;
constexpr std::int64_t kMostSteps = 400'000'000;

class ArborescencePacker {
 public:
  ArborescencePacker(const Fabric& fabric, const HopCosts& costs, const Job& job)
      : fabric_(fabric),
        costs_(costs),
        root_(job.root),
        inwards_(job.flow == Flow::kUp),
        room_(fabric.num_hops()),
        flow_(fabric.num_hops(), 0),
        reached_by_(fabric.num_nodes()) {}

  std::optional<Packing> run() {
    std::int64_t unit = 0;
    for (std::uint32_t hop = 0; hop < fabric_.num_hops(); ++hop) {
      unit = std::gcd(unit, costs_.bandwidth(hop));
    }
    set_room(unit);
    std::int64_t trees = narrowest(kMostTrees + 1);
    if (trees > kMostTrees) {
      // Coarser units, each the smallest with which the narrowest cut has few enough.
      unit = narrowest_bandwidth() / kMostTrees;
      set_room(unit);
      trees = narrowest(kMostTrees + 1);
    }
    const std::int64_t steps = trees * trees * fabric_.num_hops() * fabric_.num_hops();
    if (trees < 1 || trees > kMostTrees || steps > kMostSteps) {
      return std::nullopt;
    }
    Packing packing;
    packing.num_nodes = fabric_.num_nodes();
    std::vector<std::uint32_t>& hops = inwards_ ? packing.up : packing.down;
    for (std::int64_t left = trees; left > 0; --left) {
      packing.roots.push_back(root_);
      grow(left - 1, hops, packing.depth);
    }
    packing.period = period_of(fabric_, packing, costs_);
    return packing;
  }

 private:
  [[nodiscard]] std::uint32_t tail(std::uint32_t hop) const {
    return inwards_ ? fabric_.target(hop) : fabric_.source(hop);
  }
  [[nodiscard]] std::uint32_t head(std::uint32_t hop) const {
    return inwards_ ? fabric_.source(hop) : fabric_.target(hop);
  }
  [[nodiscard]] std::span<const std::uint32_t> out_of(std::uint32_t node) const {
    return inwards_ ? fabric_.into(node) : fabric_.out_of(node);
  }
  [[nodiscard]] std::span<const std::uint32_t> into(std::uint32_t node) const {
    return inwards_ ? fabric_.out_of(node) : fabric_.into(node);
  }
  void set_room(std::int64_t unit) {
    for (std::uint32_t hop = 0; hop < fabric_.num_hops(); ++hop) {
      room_[hop] = costs_.bandwidth(hop) / unit;
    }
  }
  /// Bandwidth into the NPU that has least, which no cut through it exceeds.
  [[nodiscard]] std::int64_t narrowest_bandwidth() const {
    std::int64_t least = kMaxBytesPerSecond;
    for (std::uint32_t node = 0; node < fabric_.num_nodes(); ++node) {
      std::int64_t sum = 0;
      for (const std::uint32_t hop : into(node)) {
        sum += costs_.bandwidth(hop);
      }
      least = node == root_ ? least : std::min(least, sum);
    }
    return least;
  }
  /// Units that every NPU can be sent, `most` or more counted as that.
  [[nodiscard]] std::int64_t narrowest(std::int64_t most) {
    for (std::uint32_t node = 0; node < fabric_.num_nodes(); ++node) {
      most = node == root_ ? most : max_flow(node, most);
    }
    return most;
  }

  /// Units from the root to the node, or `enough`.
  std::int64_t max_flow(std::uint32_t to, std::int64_t enough) {
    std::fill(flow_.begin(), flow_.end(), 0);
    std::int64_t sum = 0;
    while (sum < enough && find_path(to)) {
      check_cancel();
      std::int64_t most = enough - sum;
      each_on_path(to, [&](std::uint32_t hop, bool forward) {
        most = std::min(most, forward ? room_[hop] - flow_[hop] : flow_[hop]);
      });
      each_on_path(to,
                   [&](std::uint32_t hop, bool forward) { flow_[hop] += forward ? most : -most; });
      sum += most;
    }
    return sum;
  }
  bool find_path(std::uint32_t to) {
    std::fill(reached_by_.begin(), reached_by_.end(), kNone);
    queue_.assign(1, root_);
    reached_by_[root_] = root_;
    for (std::size_t next = 0; next < queue_.size() && reached_by_[to] == kNone; ++next) {
      const std::uint32_t node = queue_[next];
      for (const std::uint32_t hop : out_of(node)) {
        if (room_[hop] > flow_[hop]) {
          reach(head(hop), hop);
        }
      }
      for (const std::uint32_t hop : into(node)) {
        if (flow_[hop] > 0) {
          reach(tail(hop), hop);
        }
      }
    }
    return reached_by_[to] != kNone;
  }
  void reach(std::uint32_t node, std::uint32_t by) {
    if (reached_by_[node] == kNone && node != root_) {
      reached_by_[node] = by;
      queue_.push_back(node);
    }
  }
  template <class Visit>
  void each_on_path(std::uint32_t node, const Visit& visit) const {
    while (node != root_) {
      const std::uint32_t hop = reached_by_[node];
      const bool forward = head(hop) == node;
      visit(hop, forward);
      node = forward ? tail(hop) : head(hop);
    }
  }

  /// Appends a tree that leaves room for `left` more.
  void grow(std::int64_t left, std::vector<std::uint32_t>& hops, std::int64_t& deepest) {
    using Way = std::tuple<std::int64_t, std::uint32_t>;
    std::priority_queue<Way, std::vector<Way>, std::greater<>> ways;
    std::vector<std::uint32_t> by(fabric_.num_nodes(), kNone);
    const auto join = [&](std::uint32_t node, std::int64_t depth) {
      for (const std::uint32_t hop : out_of(node)) {
        if (room_[hop] > 0 && head(hop) != root_ && by[head(hop)] == kNone) {
          ways.emplace(depth + costs_.arrival(hop), hop);
        }
      }
    };
    join(root_, 0);
    while (!ways.empty()) {
      const auto [depth, hop] = ways.top();
      ways.pop();
      const std::uint32_t node = head(hop);
      if (by[node] != kNone) {
        continue;
      }
      --room_[hop];
      if (max_flow(node, left) < left) {
        ++room_[hop];
        continue;
      }
      by[node] = hop;
      deepest = std::max(deepest, depth);
      join(node, depth);
    }
    hops.insert(hops.end(), by.begin(), by.end());
  }

  const Fabric& fabric_;
  const HopCosts& costs_;
  std::uint32_t root_;
  bool inwards_;
  /// Units of each hop that no tree has taken.
  std::vector<std::int64_t> room_;
  std::vector<std::int64_t> flow_;
  std::vector<std::uint32_t> reached_by_;
  std::vector<std::uint32_t> queue_;
};

}  // namespace

std::optional<Packing> pack_arborescences(const Fabric& fabric,
                                          const HopCosts& costs,
                                          const Job& job) {
  if (job.root == kNone || !job.everybody() || !fabric.direct()) {
    return std::nullopt;
  }
  return ArborescencePacker(fabric, costs, job).run();
}

}  // namespace tacos::trees
