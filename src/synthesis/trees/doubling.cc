// SPDX-License-Identifier: MIT
// If the masks are linearly independent over GF(2), then after a chunk has been exchanged along
// some of them every NPU holds the sum over the ids that these masks span from its own, each once;
// after all of them, over all NPUs (Thakur et al. 2005, recursive doubling). Hypercubes, rings of
// four and their products (a 4x4 torus is a hypercube of 16) and fully connected networks of 2^d
// have them. Every byte crosses d links of every NPU instead of two, but after d latencies, the
// diameter of a hypercube, all is done. O(N * d) transfers, whatever the number of chunks: those
// that take the masks in the same turn travel together.
#include "synthesis/trees/doubling.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "schedule/builder.h"

namespace tacos::trees {
namespace {

/// The fastest channel from the node to the other; kNone when there is none.
std::uint32_t fastest(const Topology& topology,
                      const Fabric& fabric,
                      std::uint32_t node,
                      std::uint32_t other) {
  std::uint32_t best = kNone;
  for (const std::uint32_t channel : fabric.out_of(node)) {
    if (fabric.target(channel) != other) {
      continue;
    }
    if (best == kNone || topology.link(fabric.link(channel)).bandwidth >
                             topology.link(fabric.link(best)).bandwidth) {
      best = channel;
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

std::optional<Doubling> Doubling::find(const Topology& topology,
                                       const Fabric& fabric,
                                       LinkModel model) {
  const std::uint32_t nodes = fabric.num_nodes();
  if (!std::has_single_bit(nodes) || !fabric.symmetric()) {
    return std::nullopt;
  }
  const auto needed = static_cast<std::uint32_t>(std::bit_width(nodes) - 1);
  Doubling doubling(topology, model);
  Basis basis;
  std::vector<LinkId> links(nodes);
  for (const std::uint32_t channel : fabric.out_of(0)) {
    const std::uint32_t mask = fabric.target(channel);
    bool complete = doubling.num_steps() < needed;
    for (std::uint32_t v = 0; v < nodes && complete; ++v) {
      if (v < (v ^ mask)) {
        const std::uint32_t there = fastest(topology, fabric, v, v ^ mask);
        complete = there != kNone;
        if (complete) {
          links[v] = fabric.link(there);
          links[v ^ mask] = fabric.link(fabric.twin(there));
        }
      }
    }
    if (complete && basis.add(mask)) {
      doubling.first_.push_back(static_cast<std::uint32_t>(doubling.links_.size()));
      doubling.links_.insert(doubling.links_.end(), links.begin(), links.end());
    }
  }
  if (doubling.num_steps() != needed) {
    return std::nullopt;
  }
  return doubling;
}

Bytes Doubling::bytes(const ChunkTable& chunks, std::uint32_t turn) const {
  Bytes sum;
  for (std::uint32_t chunk = turn; chunk < chunks.count(); chunk += num_steps()) {
    sum.count += chunks.bytes(ChunkId(chunk)).count;
  }
  return sum;
}

Ticks Doubling::duration(const ChunkTable& chunks, std::uint32_t step) const {
  Ticks longest;
  for (std::uint32_t turn = 0; turn < std::min(num_steps(), chunks.count()); ++turn) {
    const Bytes together = bytes(chunks, turn);
    for (const LinkId link : links_of((turn + step) % num_steps())) {
      longest = std::max(longest, link_cost(topology_->link(link), together, model_).arrival);
    }
  }
  return longest;
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
  std::vector<std::pair<LinkId, std::uint32_t>> sends;
  std::vector<ChunkId> together;
  Ticks start;
  for (std::uint32_t step = 0; step < num_steps(); ++step) {
    sends.clear();
    for (std::uint32_t turn = 0; turn < std::min(num_steps(), chunks.count()); ++turn) {
      for (const LinkId link : links_of((turn + step) % num_steps())) {
        sends.emplace_back(link, turn);
      }
    }
    std::sort(sends.begin(), sends.end());
    for (const auto& [link, turn] : sends) {
      together.clear();
      for (std::uint32_t chunk = turn; chunk < chunks.count(); chunk += num_steps()) {
        together.emplace_back(chunk);
      }
      const LinkCost cost = link_cost(topology_->link(link), bytes(chunks, turn), model_);
      builder.append({.start = start, .op = Op::kReduce, .links = {&link, 1}, .chunks = together},
                     start + cost.arrival);
    }
    start += duration(chunks, step);
  }
  return std::move(builder).build();
}

}  // namespace tacos::trees
