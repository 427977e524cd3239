// SPDX-License-Identifier: MIT
#include "bound/instance.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "bound/custom.h"

namespace tacos {
namespace {

std::vector<std::uint8_t> mark(std::uint32_t num_nodes, std::span<const NodeId> nodes) {
  std::vector<std::uint8_t> marked(num_nodes, 0);
  for (const NodeId node : nodes) {
    marked[node.index()] = 1;
  }
  return marked;
}

/// The smallest participant that `from` does not reach (or, backwards, that does not reach it).
std::optional<NodeId> first_missed(const Topology& topology,
                                   const Collective& collective,
                                   NodeId from,
                                   Orientation orientation) {
  std::vector<std::uint8_t> seen(topology.num_nodes(), 0);
  std::vector<NodeId> queue{from};
  seen[from.index()] = 1;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    const bool forward = orientation == Orientation::kForward;
    for (const LinkId id : forward ? topology.out_links(queue[at]) : topology.in_links(queue[at])) {
      const Link& link = topology.link(id);
      const NodeId other = forward ? link.dst : link.src;
      if (seen[other.index()] == 0) {
        seen[other.index()] = 1;
        queue.push_back(other);
      }
    }
  }
  for (const NodeId participant : collective.participants()) {
    if (seen[participant.index()] == 0) {
      return participant;
    }
  }
  return std::nullopt;
}

}  // namespace

Instance make_instance(const Topology& network,
                       Orientation orientation,
                       const Collective& collective) {
  Instance instance{.network = network,
                    .orientation = orientation,
                    .collective = collective,
                    .takes_part = mark(network.num_nodes(), collective.participants()),
                    .shard = std::vector<std::int64_t>(network.num_nodes(), 0),
                    .all_shards = 0,
                    .symmetric = false};
  const std::int64_t n = collective.num_participants();
  const ChunkTable whole(collective.size(), static_cast<std::uint32_t>(n));
  const bool even = collective.kind() == CollectiveKind::kAllToAll;
  for (std::uint32_t p = 0; p < n; ++p) {
    instance.shard[collective.participants()[p].index()] =
        even ? collective.size().count / n : whole.bytes(ChunkId(p)).count;
    instance.all_shards += instance.shard[collective.participants()[p].index()];
  }
  return instance;
}

Ticks transfer_time(std::int64_t copies, std::int64_t bytes, Int128 bandwidth) {
  TACOS_ASSERT(bandwidth > 0, "data that must move has a link to move on");
  // At most 2^26 copies of 2^60 bytes: below 2^127.
  const Int128 work = Int128{copies} * bytes * kPsPerSecond;
  const Int128 time = work / bandwidth + (work % bandwidth != 0 ? 1 : 0);
  return time > kMaxTime.ps ? kMaxTime : Ticks{static_cast<std::int64_t>(time)};
}

std::int64_t saturated(Int128 value) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return value > kMost ? kMost : static_cast<std::int64_t>(value);
}

Inside inside_of(const Instance& instance, std::span<const std::uint8_t> receiving) {
  Inside inside;
  for (const NodeId node : instance.collective.participants()) {
    if (receiving[node.index()] != 0) {
      ++inside.participants;
      inside.shard_bytes += instance.shard[node.index()];
    }
  }
  inside.root = receiving[instance.collective.root().index()] != 0;
  return inside;
}

std::int64_t bytes_into(const Instance& instance, const Inside& inside) {
  if (inside.participants == 0 || inside.participants == instance.num_participants()) {
    return 0;
  }
  const std::int64_t outside_bytes = instance.all_shards - inside.shard_bytes;
  switch (instance.collective.kind()) {
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return outside_bytes;
    case CollectiveKind::kGather:
    case CollectiveKind::kScatter:
      return inside.root ? outside_bytes : 0;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce:
      return inside.root ? 0 : instance.size();
    case CollectiveKind::kAllReduce:
      return instance.size();
    case CollectiveKind::kAllToAll:
      return outside_bytes * inside.participants;
    case CollectiveKind::kCustom:
      break;
  }
  return 0;
}

Int128 bandwidth_into(const Topology& network, std::span<const std::uint8_t> receiving) {
  Int128 bandwidth = 0;
  for (const Link& link : network.links()) {
    if (receiving[link.src.index()] == 0 && receiving[link.dst.index()] != 0) {
      bandwidth += link.bandwidth.bytes_per_second;
    }
  }
  return bandwidth;
}

Certificate cut_certificate(const Instance& instance, std::vector<NodeId> receivers) {
  std::sort(receivers.begin(), receivers.end());
  const std::vector<std::uint8_t> receiving = mark(instance.network.num_nodes(), receivers);
  const Int128 bandwidth = bandwidth_into(instance.network, receiving);
  Certificate certificate;
  certificate.kind = CertificateKind::kCut;
  certificate.reversed = instance.orientation == Orientation::kReversed;
  certificate.receivers = std::move(receivers);
  certificate.bytes = bytes_into(instance, inside_of(instance, receiving));
  certificate.bandwidth = saturated(bandwidth);
  certificate.time = transfer_time(1, certificate.bytes, bandwidth);
  return certificate;
}

std::uint64_t memory_of_bounds(const Topology& topology, BoundEffort effort) {
  // Measured on cliques, hypercubes, meshes and boxes. Exact: the network turned round, arcs and
  // what flows on them; cheap: bandwidths of components.
  const bool exact = effort == BoundEffort::kExact;
  return topology.num_links() * std::uint64_t{exact ? 90U : 30U} +
         topology.num_nodes() * std::uint64_t{exact ? 200U : 100U};
}

std::optional<std::pair<NodeId, NodeId>> find_unreachable(const Topology& topology,
                                                          const Collective& collective) {
  const CollectiveKind kind = collective.kind();
  if (kind == CollectiveKind::kCustom) {
    return find_unreachable_custom(topology, collective);
  }
  const NodeId hub = collective.root();
  // Through the hub everyone reaches everyone, so two searches suffice.
  if (kind != CollectiveKind::kReduce && kind != CollectiveKind::kGather) {
    if (const auto missed = first_missed(topology, collective, hub, Orientation::kForward)) {
      return std::pair(hub, *missed);
    }
  }
  if (kind != CollectiveKind::kBroadcast && kind != CollectiveKind::kScatter) {
    if (const auto missed = first_missed(topology, collective, hub, Orientation::kReversed)) {
      return std::pair(*missed, hub);
    }
  }
  return std::nullopt;
}

}  // namespace tacos
