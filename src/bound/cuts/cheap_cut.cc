// SPDX-License-Identifier: MIT
// Cuts that cost next to nothing, for a first guess and for networks too large for more: each NPU
// against the rest, both ways, and the components that the links of at least some speed join
// (a pod, a box, a group: whatever hangs together by its fast links), both ways. In every network
// of the reference table the exact optimum is one of these. O(links) for each speed level; levels
// are a factor 1.3 apart.
#include "base/assert.h"
#include "bound/cuts/components.h"
#include "bound/cuts/cut.h"

namespace tacos {
namespace {

class CheapCuts {
 public:
  explicit CheapCuts(const Instance& instance) : instance_(instance) {}

  std::vector<NodeId> best() {
    for_speed_levels(instance_.network, [&](Components& components) { evaluate(components); });
    TACOS_ASSERT(found_, "some NPU has something to receive");
    return best_;
  }

 private:
  struct Sums {
    Inside inside;
    Int128 in = 0;
    Int128 out = 0;
  };

  /// All components of the moment, as receiving and as sending sides.
  void evaluate(Components& components) {
    const Topology& network = instance_.network;
    sums_.assign(network.num_nodes(), {});
    for (std::uint32_t node = 0; node < network.num_nodes(); ++node) {
      Inside& inside = sums_[components.find(node)].inside;
      inside.participants += instance_.takes_part[node];
      inside.shard_bytes += instance_.shard[node];
      inside.root |= NodeId(node) == instance_.collective.root();
    }
    for (const Link& link : network.links()) {
      const std::uint32_t src = components.find(link.src.value());
      const std::uint32_t dst = components.find(link.dst.value());
      if (src != dst) {
        sums_[src].out += link.bandwidth.bytes_per_second;
        sums_[dst].in += link.bandwidth.bytes_per_second;
      }
    }
    for (std::uint32_t node = 0; node < network.num_nodes(); ++node) {
      const Sums& sums = sums_[node];
      if (sums.inside.participants > 0) {
        consider(components, node, sums.inside, sums.in, Side::kReceives);
        const Inside rest{instance_.num_participants() - sums.inside.participants,
                          instance_.all_shards - sums.inside.shard_bytes,
                          !sums.inside.root};
        consider(components, node, rest, sums.out, Side::kSends);
      }
    }
  }

  void consider(Components& components,
                std::uint32_t component,
                const Inside& inside,
                Int128 bandwidth,
                Side side) {
    const std::int64_t bytes = bytes_into(instance_, inside);
    if (bytes == 0) {
      return;
    }
    const Ticks time = transfer_time(1, bytes, bandwidth);
    if (found_ && time <= time_) {
      return;
    }
    found_ = true;
    time_ = time;
    best_.clear();
    for (std::uint32_t node = 0; node < instance_.network.num_nodes(); ++node) {
      if ((components.find(node) == component) == (side == Side::kReceives)) {
        best_.emplace_back(node);
      }
    }
  }

  const Instance& instance_;
  std::vector<Sums> sums_;
  std::vector<NodeId> best_;
  Ticks time_;
  bool found_ = false;
};

}  // namespace

std::vector<NodeId> best_cheap_cut(const Instance& instance) {
  return CheapCuts(instance).best();
}

}  // namespace tacos
