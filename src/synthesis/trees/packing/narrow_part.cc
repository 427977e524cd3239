// SPDX-License-Identifier: MIT
#include "synthesis/trees/packing/narrow_part.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "base/numbers/wide.h"

namespace tacos::trees {
namespace {

constexpr std::size_t kWidest = 12;

class Growth {
 public:
  Growth(const Topology& topology, std::span<const std::int64_t> capacity)
      : topology_(topology),
        capacity_(capacity),
        touching_(topology.num_npus(), 0),
        shared_(topology.num_npus(), 0),
        is_in_(topology.num_npus(), false) {
    for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
      for_each_link(npu, [&](LinkId link) { touching_[npu] += capacity_[link.index()]; });
    }
  }

  NarrowPart run() {
    const std::int64_t least = *std::min_element(touching_.begin(), touching_.end());
    const Int128 all = std::accumulate(touching_.begin(), touching_.end(), Int128{0});
    const std::size_t most = std::min<std::size_t>(kWidest, topology_.num_npus() - 1);
    for (std::uint32_t npu = 0; npu < topology_.num_npus(); ++npu) {
      // Of a torus without a cable the two ends of that, of a mesh its border.
      if (touching_[npu] <= least + least / 2 &&
          touching_[npu] * Int128{topology_.num_npus()} < all) {
        grow(npu, most, std::less<>{});
        grow(npu, most, std::greater<>{});
      }
    }
    return {.npus = static_cast<std::int64_t>(best_.size()), .links = links()};
  }

 private:
  template <class Visit>
  void for_each_link(std::uint32_t npu, const Visit& visit) const {
    for (const LinkId link : topology_.in_links(NodeId(npu))) {
      visit(link);
    }
    for (const LinkId link : topology_.out_links(NodeId(npu))) {
      visit(link);
    }
  }
  [[nodiscard]] std::uint32_t other_end(LinkId link, std::uint32_t npu) const {
    const Link& ends = topology_.link(link);
    return (ends.src == NodeId(npu) ? ends.dst : ends.src).value();
  }

  /// Of NPUs that add as much, one that shares more with the part, then the first by `Order`: on
  /// one side of a mesh that leads to the corner, on the other the other way round.
  template <class Order>
  void grow(std::uint32_t first, std::size_t most, const Order& order) {
    part_.clear();
    beside_.assign(1, first);
    std::int64_t capacity = 0;
    while (part_.size() < most && !beside_.empty()) {
      const auto adds = [&](std::uint32_t npu) { return touching_[npu] - shared_[npu]; };
      const auto next =
          std::min_element(beside_.begin(), beside_.end(), [&](std::uint32_t a, std::uint32_t b) {
            const auto key = [&](std::uint32_t npu) { return std::pair(adds(npu), -shared_[npu]); };
            return key(a) != key(b) ? key(a) < key(b) : order(a, b);
          });
      capacity += adds(*next);
      add(*next);
      const auto size = static_cast<std::int64_t>(part_.size());
      if (best_.empty() || Int128{capacity} * static_cast<std::int64_t>(best_.size()) <
                               Int128{capacity_of_best_} * size) {
        best_ = part_;
        capacity_of_best_ = capacity;
      }
    }
    for (const std::vector<std::uint32_t>* npus : {&part_, &beside_}) {
      for (const std::uint32_t npu : *npus) {
        shared_[npu] = 0;
        is_in_[npu] = false;
      }
    }
  }
  void add(std::uint32_t npu) {
    part_.push_back(npu);
    is_in_[npu] = true;
    std::erase(beside_, npu);
    for_each_link(npu, [&](LinkId link) {
      const std::uint32_t other = other_end(link, npu);
      if (!is_in_[other] && shared_[other] == 0) {
        beside_.push_back(other);
      }
      shared_[other] += capacity_[link.index()];
    });
  }

  [[nodiscard]] std::vector<LinkId> links() const {
    std::vector<LinkId> links;
    for (const std::uint32_t npu : best_) {
      for_each_link(npu, [&](LinkId link) { links.push_back(link); });
    }
    std::sort(links.begin(), links.end());
    links.erase(std::unique(links.begin(), links.end()), links.end());
    return links;
  }

  const Topology& topology_;
  std::span<const std::int64_t> capacity_;
  /// By NPU: of all links that touch it, and of those to and from the part that grows.
  std::vector<std::int64_t> touching_;
  std::vector<std::int64_t> shared_;
  std::vector<bool> is_in_;
  std::vector<std::uint32_t> part_;
  std::vector<std::uint32_t> beside_;
  std::vector<std::uint32_t> best_;
  std::int64_t capacity_of_best_ = 0;
};

}  // namespace

NarrowPart narrowest_part(const Topology& topology, std::span<const std::int64_t> capacity) {
  return topology.num_npus() < 2 ? NarrowPart{} : Growth(topology, capacity).run();
}

}  // namespace tacos::trees
