// SPDX-License-Identifier: MIT
// What links join and what they cost, for the chunks of one collective: all that a replay asks
// about a link and that never changes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/ids.h"
#include "tacos/topology.h"
#include "tacos/units.h"

#include "base/memory/bit_matrix.h"

namespace tacos {

class WireTable {
 public:
  /// The topology and the chunks must live as long.
  WireTable(const Topology& topology, const ChunkTable& chunks, LinkModel model);

  struct Wire {
    Ticks latency;
    /// What a transfer keeps it busy for beside the serialization: latency or gap, by the model.
    Ticks held;
    /// Of either size of chunks.
    std::array<Ticks, 2> serialization;
    NodeId src;
    NodeId dst;
    /// It works, and both ends are NPUs.
    bool direct = false;
    bool failed = false;
  };

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] std::uint32_t num_links() const {
    return static_cast<std::uint32_t>(wires_.size());
  }
  /// Of a link that exists.
  [[nodiscard]] const Wire& operator[](LinkId link) const { return wires_[link.index()]; }

  [[nodiscard]] std::uint32_t num_chunks() const { return num_chunks_; }
  /// The first chunks whose size is one of two: all, or none when they have a table of sizes.
  [[nodiscard]] std::uint32_t num_simple() const { return num_simple_; }
  /// Which of the two.
  [[nodiscard]] std::size_t size_class(ChunkId chunk) const {
    return equal_sizes_ || !smaller_.test(0, chunk.index()) ? 0 : 1;
  }
  /// Of chunks that exist.
  [[nodiscard]] Bytes load(std::span<const ChunkId> chunks) const;
  [[nodiscard]] Ticks serialization(LinkId link, Bytes bytes) const;

 private:
  const Topology& topology_;
  const ChunkTable& chunks_;
  std::uint32_t num_chunks_;
  std::uint32_t num_simple_;
  bool equal_sizes_;
  /// The larger and the smaller size of chunks.
  std::array<Bytes, 2> sizes_;
  /// Row 0: the chunks that are a byte smaller than the largest; empty when all are equal.
  BitMatrix smaller_;
  std::vector<Wire> wires_;
};

}  // namespace tacos
