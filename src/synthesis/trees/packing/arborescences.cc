// SPDX-License-Identifier: MIT
// Theorem (Edmonds 1973): if every NPU can be sent k units at a time from the root, k spanning
// trees away from the root fit into the network side by side.
//
// Algorithm (Lovasz 1976). One tree after the other. A channel from the tree to an NPU outside may
// be added when without it that NPU can still be sent what the trees to come need; some channel
// always may. The nearest to the root is tried first, so that trees stay shallow.
//
// Cost: a maximum flow of up to k units for each tree and channel, O(k^2 channels^2) in all.
#include "synthesis/trees/arborescences.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace tacos::trees {
namespace {

constexpr std::int64_t kMostTrees = 48;
constexpr std::int64_t kMostSteps = 400'000'000;

class ArborescencePacker {
 public:
  ArborescencePacker(const Fabric& fabric, const ChannelCosts& costs, const Job& job)
      : fabric_(fabric),
        costs_(costs),
        root_(job.root),
        inwards_(job.flow == Flow::kUp),
        room_(fabric.num_channels()),
        flow_(fabric.num_channels(), 0),
        reached_by_(fabric.num_nodes()) {}

  std::optional<Packing> run() {
    std::int64_t unit = 0;
    for (std::uint32_t channel = 0; channel < fabric_.num_channels(); ++channel) {
      unit = std::gcd(unit, costs_.bandwidth(channel));
    }
    set_room(unit);
    std::int64_t trees = narrowest(kMostTrees + 1);
    if (trees > kMostTrees) {
      // Coarser units, each the smallest with which the narrowest cut has few enough.
      unit = narrowest_bandwidth() / kMostTrees;
      set_room(unit);
      trees = narrowest(kMostTrees + 1);
    }
    const std::int64_t steps = trees * trees * fabric_.num_channels() * fabric_.num_channels();
    if (trees < 1 || trees > kMostTrees || steps > kMostSteps) {
      return std::nullopt;
    }
    Packing packing;
    packing.num_nodes = fabric_.num_nodes();
    std::vector<std::uint32_t>& channels = inwards_ ? packing.up : packing.down;
    for (std::int64_t left = trees; left > 0; --left) {
      packing.roots.push_back(root_);
      grow(left - 1, channels, packing.depth);
    }
    packing.period = period_of(fabric_, packing, costs_);
    return packing;
  }

 private:
  [[nodiscard]] std::uint32_t tail(std::uint32_t channel) const {
    return inwards_ ? fabric_.target(channel) : fabric_.source(channel);
  }
  [[nodiscard]] std::uint32_t head(std::uint32_t channel) const {
    return inwards_ ? fabric_.source(channel) : fabric_.target(channel);
  }
  [[nodiscard]] std::span<const std::uint32_t> out_of(std::uint32_t node) const {
    return inwards_ ? fabric_.into(node) : fabric_.out_of(node);
  }
  [[nodiscard]] std::span<const std::uint32_t> into(std::uint32_t node) const {
    return inwards_ ? fabric_.out_of(node) : fabric_.into(node);
  }
  void set_room(std::int64_t unit) {
    for (std::uint32_t channel = 0; channel < fabric_.num_channels(); ++channel) {
      room_[channel] = costs_.bandwidth(channel) / unit;
    }
  }
  /// Bandwidth into the NPU that has least, which no cut through it exceeds.
  [[nodiscard]] std::int64_t narrowest_bandwidth() const {
    std::int64_t least = kMaxBytesPerSecond;
    for (std::uint32_t node = 0; node < fabric_.num_nodes(); ++node) {
      std::int64_t sum = 0;
      for (const std::uint32_t channel : into(node)) {
        sum += costs_.bandwidth(channel);
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
      std::int64_t most = enough - sum;
      each_on_path(to, [&](std::uint32_t channel, bool forward) {
        most = std::min(most, forward ? room_[channel] - flow_[channel] : flow_[channel]);
      });
      each_on_path(to, [&](std::uint32_t channel, bool forward) {
        flow_[channel] += forward ? most : -most;
      });
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
      for (const std::uint32_t channel : out_of(node)) {
        if (room_[channel] > flow_[channel]) {
          reach(head(channel), channel);
        }
      }
      for (const std::uint32_t channel : into(node)) {
        if (flow_[channel] > 0) {
          reach(tail(channel), channel);
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
      const std::uint32_t channel = reached_by_[node];
      const bool forward = head(channel) == node;
      visit(channel, forward);
      node = forward ? tail(channel) : head(channel);
    }
  }

  /// Appends a tree that leaves room for `left` more.
  void grow(std::int64_t left, std::vector<std::uint32_t>& channels, std::int64_t& deepest) {
    using Way = std::tuple<std::int64_t, std::uint32_t>;
    std::priority_queue<Way, std::vector<Way>, std::greater<>> ways;
    std::vector<std::uint32_t> by(fabric_.num_nodes(), kNone);
    const auto join = [&](std::uint32_t node, std::int64_t depth) {
      for (const std::uint32_t channel : out_of(node)) {
        if (room_[channel] > 0 && head(channel) != root_ && by[head(channel)] == kNone) {
          ways.emplace(depth + costs_.arrival(channel), channel);
        }
      }
    };
    join(root_, 0);
    while (!ways.empty()) {
      const auto [depth, channel] = ways.top();
      ways.pop();
      const std::uint32_t node = head(channel);
      if (by[node] != kNone) {
        continue;
      }
      --room_[channel];
      if (max_flow(node, left) < left) {
        ++room_[channel];
        continue;
      }
      by[node] = channel;
      deepest = std::max(deepest, depth);
      join(node, depth);
    }
    channels.insert(channels.end(), by.begin(), by.end());
  }

  const Fabric& fabric_;
  const ChannelCosts& costs_;
  std::uint32_t root_;
  bool inwards_;
  /// Units of each channel that no tree has taken.
  std::vector<std::int64_t> room_;
  std::vector<std::int64_t> flow_;
  std::vector<std::uint32_t> reached_by_;
  std::vector<std::uint32_t> queue_;
};

}  // namespace

std::optional<Packing> pack_arborescences(const Fabric& fabric,
                                          const ChannelCosts& costs,
                                          const Job& job) {
  if (job.root == kNone || !job.everybody() || !fabric.direct()) {
    return std::nullopt;
  }
  return ArborescencePacker(fabric, costs, job).run();
}

}  // namespace tacos::trees
