// SPDX-License-Identifier: MIT
// A collective on a network, as the bounds see it: who takes part, what each contributes, and which
// way the links point. Reducing collectives are judged as their copying twins on the network with
// every link turned round.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tacos/bound.h"
#include "tacos/collective.h"
#include "tacos/topology.h"

#include "base/numbers/wide.h"

namespace tacos {

enum class Orientation { kForward, kReversed };

struct Instance {
  const Topology& network;
  Orientation orientation = Orientation::kForward;
  const Collective& collective;
  /// Of every node: 1 when it takes part. The others only forward.
  std::vector<std::uint8_t> takes_part;
  /// Of every node: bytes of the buffer that it owns when the buffer is dealt out, else 0. The same
  /// for any number of chunks. All-to-All: what it sends to each other participant, at least.
  std::vector<std::int64_t> shard;
  std::int64_t all_shards = 0;
  /// Whether all NPUs take part and each sees the same network.
  bool symmetric = false;

  [[nodiscard]] std::uint32_t num_participants() const { return collective.num_participants(); }
  [[nodiscard]] std::int64_t size() const { return collective.size().count; }
};

[[nodiscard]] Instance make_instance(const Topology& network,
                                     Orientation orientation,
                                     const Collective& collective);

/// The time that `copies` x `bytes` take at `bandwidth` bytes per second: the exact quotient
/// rounded up to whole picoseconds, at most kMaxTime.
[[nodiscard]] Ticks transfer_time(std::int64_t copies, std::int64_t bytes, Int128 bandwidth);
[[nodiscard]] std::int64_t saturated(Int128 value);

/// What the receiving side of a cut holds.
struct Inside {
  std::int64_t participants = 0;
  std::int64_t shard_bytes = 0;
  bool root = false;
};
[[nodiscard]] Inside inside_of(const Instance& instance, std::span<const std::uint8_t> receiving);
/// Bytes that must come in from outside; 0 when the cut asks for nothing.
[[nodiscard]] std::int64_t bytes_into(const Instance& instance, const Inside& inside);
/// Sum of the bandwidths of the links that enter.
[[nodiscard]] Int128 bandwidth_into(const Topology& network,
                                    std::span<const std::uint8_t> receiving);

/// The certificate of the cut, its arithmetic filled in. `receivers` are sorted on the way.
[[nodiscard]] Certificate cut_certificate(const Instance& instance, std::vector<NodeId> receivers);

/// What bounds need beside the network, about.
[[nodiscard]] std::uint64_t memory_of_bounds(const Topology& topology, BoundEffort effort);

/// A participant whose data another needs and cannot get, as (from, to) in the network as it is.
[[nodiscard]] std::optional<std::pair<NodeId, NodeId>> find_unreachable(
    const Topology& topology, const Collective& collective);

}  // namespace tacos
