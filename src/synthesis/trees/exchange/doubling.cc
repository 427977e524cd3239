// SPDX-License-Identifier: MIT
// If the masks are linearly independent over GF(2), then after a chunk has been exchanged along
// some of them every NPU holds the sum over the ids that these masks span from its own, each once;
// after all of them, over all NPUs (Thakur et al. 2005, recursive doubling). Hypercubes, rings of
// four and their products (a 4x4 torus is a hypercube of 16) and fully connected networks of 2^d
// have them. Every byte crosses d links of every NPU instead of two, but after d latencies, the
// diameter of a hypercube, all is done. O(N * d) transfers, whatever the number of chunks: those
// that take the masks in the same turn travel together.
#include "synthesis/trees/exchange/doubling.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "schedule/builder.h"

namespace tacos::trees {
namespace {

/// What a message of middle size takes.
Ticks some_time(const Topology& topology, const Fabric& fabric, std::uint32_t hop) {
  constexpr Bytes kSome{1 << 20U};
  return route_time(topology, fabric.links(hop), kSome);
}

/// The fastest hop from the node to the other; kNone when there is none.
std::uint32_t fastest(const Topology& topology,
                      const Fabric& fabric,
                      std::uint32_t node,
                      std::uint32_t other) {
  std::uint32_t best = kNone;
  Ticks least;
  for (const std::uint32_t hop : fabric.out_of(node)) {
    const Ticks time = some_time(topology, fabric, hop);
    if (fabric.target(hop) == other && (best == kNone || time < least)) {
      best = hop;
      least = time;
    }
  }
  return best;
}

/// Keeps masks that are independent of those before.
class Basis {
 public:
  bool add(std::uint32_t mask) {
    for (const std::uint32_t kept : reduced_) {
      mask = std::min(mask, mask ^ kept);
    }
    if (mask == 0) {
      return false;
    }
    reduced_.push_back(mask);
    std::sort(reduced_.rbegin(), reduced_.rend());
    return true;
  }

 private:
  std::vector<std::uint32_t> reduced_;
};

}  // namespace

/// Adds a hop from every NPU to that whose id differs by the mask; false when there are none,
/// or they share a link.
bool Doubling::add_mask(std::uint32_t mask) {
  const std::uint32_t nodes = fabric_->num_nodes();
  std::vector<std::uint32_t> hops(nodes, kNone);
  std::vector<bool> used(topology_->num_links(), false);
  for (std::uint32_t v = 0; v < nodes; ++v) {
    const std::uint32_t there = fastest(*topology_, *fabric_, v, v ^ mask);
    if (there == kNone) {
      return false;
    }
    hops[v] = v < (v ^ mask) ? there : fabric_->twin(hops[v ^ mask]);
    for (const LinkId link : fabric_->links(hops[v])) {
      if (used[link.index()]) {
        return false;
      }
      used[link.index()] = true;
    }
  }
  first_.push_back(static_cast<std::uint32_t>(hops_.size()));
  hops_.insert(hops_.end(), hops.begin(), hops.end());
  return true;
}

std::optional<Doubling> Doubling::find(const Topology& topology,
                                       const Fabric& fabric,
                                       LinkModel model) {
  const std::uint32_t nodes = fabric.num_nodes();
  if (!std::has_single_bit(nodes) || !fabric.symmetric()) {
    return std::nullopt;
  }
  const auto needed = static_cast<std::uint32_t>(std::bit_width(nodes) - 1);
  Doubling doubling(topology, fabric, model);
  Basis basis;
  std::vector<std::uint32_t> ways(fabric.out_of(0).begin(), fabric.out_of(0).end());
  std::stable_sort(ways.begin(), ways.end(), [&](std::uint32_t a, std::uint32_t b) {
    return some_time(topology, fabric, a) < some_time(topology, fabric, b);
  });
  for (const std::uint32_t hop : ways) {
    const std::uint32_t mask = fabric.target(hop);
    Basis with = basis;
    if (doubling.num_steps() < needed && with.add(mask) && doubling.add_mask(mask)) {
      basis = with;
    }
  }
  if (doubling.num_steps() != needed) {
    return std::nullopt;
  }
  return doubling;
}

std::uint32_t Doubling::num_turns(const ChunkTable& chunks) const {
  return fabric_->direct() ? std::min(num_steps(), chunks.count()) : 1;
}

Bytes Doubling::bytes(const ChunkTable& chunks, std::uint32_t turn) const {
  Bytes sum;
  for (std::uint32_t chunk = turn; chunk < chunks.count(); chunk += num_turns(chunks)) {
    sum.count += chunks.bytes(ChunkId(chunk)).count;
  }
  return sum;
}

Ticks Doubling::duration(const ChunkTable& chunks, std::uint32_t step) const {
  Ticks longest;
  for (std::uint32_t turn = 0; turn < num_turns(chunks); ++turn) {
    const Bytes together = bytes(chunks, turn);
    for (const std::uint32_t hop : hops_of((turn + step) % num_steps())) {
      longest = std::max(longest, route_time(*topology_, fabric_->links(hop), together));
    }
  }
  return longest + settling_;
}

Ticks Doubling::time(const ChunkTable& chunks) const {
  Ticks sum;
  for (std::uint32_t step = 0; step < num_steps(); ++step) {
    sum += duration(chunks, step);
  }
  return sum;
}

Schedule Doubling::record(const ChunkTable& chunks) const {
  ScheduleBuilder builder(topology_->num_links());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> sends;
  std::vector<ChunkId> together;
  Ticks start;
  for (std::uint32_t step = 0; step < num_steps(); ++step) {
    sends.clear();
    for (std::uint32_t turn = 0; turn < num_turns(chunks); ++turn) {
      for (const std::uint32_t hop : hops_of((turn + step) % num_steps())) {
        sends.emplace_back(hop, turn);
      }
    }
    std::sort(sends.begin(), sends.end());
    for (const auto& [hop, turn] : sends) {
      together.clear();
      for (std::uint32_t chunk = turn; chunk < chunks.count(); chunk += num_turns(chunks)) {
        together.emplace_back(chunk);
      }
      const auto links = fabric_->links(hop);
      builder.append({.start = start, .op = Op::kReduce, .links = links, .chunks = together},
                     start + route_time(*topology_, links, bytes(chunks, turn)));
    }
    start += duration(chunks, step);
  }
  return std::move(builder).build();
}

}  // namespace tacos::trees
