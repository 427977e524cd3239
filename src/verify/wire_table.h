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
#include "tacos/schedule.h"
#include "tacos/topology.h"
#include "tacos/units.h"

#include "base/memory/bit_matrix.h"

namespace tacos {

/// A transfer on one of its links: when it gets there, and for how long it keeps it.
struct Passage {
  LinkId link;
  /// Whether it is the first of the route.
  bool first = false;
  Ticks at;
  Ticks busy;
};

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
    /// Which of the times() is the latency and serialization of either size, and what that keeps
    /// the link busy for.
    std::array<std::uint32_t, 2> duration = {};
    std::array<std::uint32_t, 2> busy = {};
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

  /// Few on most networks.
  [[nodiscard]] std::span<const Ticks> times() const { return times_; }

  [[nodiscard]] std::uint32_t num_chunks() const { return num_chunks_; }
  /// The first chunks whose size is one of two: all, or none when they have a table of sizes.
  [[nodiscard]] std::uint32_t num_simple() const { return num_simple_; }
  /// Which of the two.
  [[nodiscard]] std::size_t size_class(ChunkId chunk) const {
    return equal_sizes_ || !smaller_.test(0, chunk.index()) ? 0 : 1;
  }
  /// What concerns one chunk over one link, for loops that want it at hand.
  struct Simple {
    const Wire* wires = nullptr;
    std::uint32_t num_links = 0;
    std::uint32_t num_chunks = 0;
    /// Null when all chunks are equal.
    const BitMatrix* smaller = nullptr;

    /// Whether both exist, the chunk's size is one of two, and the link works between two NPUs.
    [[nodiscard]] bool covers(LinkId link, ChunkId chunk) const {
      return link.value() < num_links && chunk.value() < num_chunks && wires[link.index()].direct;
    }
    [[nodiscard]] std::size_t size_class(ChunkId chunk) const {
      return smaller != nullptr && smaller->test(0, chunk.index()) ? 1 : 0;
    }
  };
  [[nodiscard]] Simple simple() const {
    return {wires_.data(), num_links(), num_simple_, equal_sizes_ ? nullptr : &smaller_};
  }
  /// How long a chunk keeps a link, if its size is one of two.
  [[nodiscard]] Ticks busy(LinkId link, ChunkId chunk) const {
    const Wire& wire = wires_[link.index()];
    return wire.serialization[size_class(chunk)] + wire.held;
  }
  /// Of chunks that exist.
  [[nodiscard]] Bytes load(std::span<const ChunkId> chunks) const;
  [[nodiscard]] Ticks serialization(LinkId link, Bytes bytes) const;
  /// Calls visit(passage) for each link of a transfer that makes sense.
  template <class Visit>
  void for_each_passage(const Transfer& transfer, const Visit& visit) const {
    const Bytes bytes = load(transfer.chunks);
    Ticks at = transfer.start;
    for (std::size_t i = 0; i < transfer.links.size(); ++i) {
      const LinkId link = transfer.links[i];
      const Wire& wire = wires_[link.index()];
      visit(Passage{link, i == 0, at, serialization(link, bytes) + wire.held});
      at += wire.latency;
    }
  }

 private:
  void number_times();

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
  std::vector<Ticks> times_;
};

}  // namespace tacos
