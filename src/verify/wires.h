// SPDX-License-Identifier: MIT
// The half of the referee that knows links and time but no data: whether a transfer makes sense,
// when it arrives, and whether its links are free for it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/ids.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"
#include "tacos/units.h"

#include "base/event_queue.h"
#include "base/memory/bit_matrix.h"
#include "verify/violations.h"

namespace tacos {

/// A transfer that makes sense: between which NPUs, and when its data is there.
struct Flight {
  NodeId src;
  NodeId dst;
  Ticks end;
};

/// Reductions are read several times; the first time everything is checked, later only the data.
enum class Pass { kFirst, kLater };

class Wires {
 public:
  Wires(const Topology& topology,
        const ChunkTable& chunks,
        LinkModel model,
        Violations& violations);

  void begin(Pass pass);
  /// Call after the last transfer of the first pass.
  void finish() { enter_until(EventQueue<Entry>::kNever - Ticks{1}); }

  /// Moves the clock to the start of the transfer. A transfer that makes no sense is reported (in
  /// the first pass), leaves the clock alone, and is nothing.
  [[nodiscard]] std::optional<Flight> check(const Transfer& transfer, std::uint64_t index);
  /// Takes the links of a transfer that `check` let pass; reports those that are not free.
  void occupy(const Transfer& transfer, std::uint64_t index);

  /// `check` without words for one chunk over one link: false means ask `check`.
  [[nodiscard]] bool check_simple(Ticks start, LinkId link, ChunkId chunk, Flight& flight) {
    if (link.index() >= wires_.size() || chunk.value() >= num_simple_ || start < clock_) {
      return false;
    }
    const Wire& wire = wires_[link.index()];
    const Ticks duration = wire.latency + wire.serialization[size_class(chunk)];
    if (!wire.direct || duration > kMaxTime - start) {
      return false;
    }
    clock_ = start;
    flight = {wire.src, wire.dst, start + duration};
    return true;
  }
  /// `occupy` without words after `check_simple`: false means ask `occupy`.
  [[nodiscard]] bool occupy_simple(Ticks start, LinkId link, ChunkId chunk) {
    Wire& wire = wires_[link.index()];
    if (start < wire.free_at || entries_.next_time() <= start) {
      return false;
    }
    wire.free_at = start + wire.serialization[size_class(chunk)] + wire.held;
    return true;
  }
  /// Where a link begins, for prefetching; any id will do.
  [[nodiscard]] NodeId source(LinkId link) const {
    return link.index() < wires_.size() ? wires_[link.index()].src : NodeId(0);
  }

 private:
  /// All that the replay asks about a link, in one cache line.
  struct Wire {
    Ticks free_at;
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
  /// The head of a message reaches a link that is not the first of its route.
  struct Entry {
    Ticks time;
    Ticks busy;
    std::uint64_t transfer = 0;
    LinkId link;
  };

  [[nodiscard]] std::size_t size_class(ChunkId chunk) const {
    return equal_sizes_ || !smaller_.test(0, chunk.index()) ? 0 : 1;
  }
  [[nodiscard]] Bytes load(std::span<const ChunkId> chunks) const;
  [[nodiscard]] Ticks serialization(LinkId link, Bytes bytes) const;
  [[nodiscard]] bool well_formed(const Transfer& transfer, std::uint64_t index);
  [[nodiscard]] bool is_route(const Transfer& transfer, std::uint64_t index);
  [[nodiscard]] bool lists_twice(std::span<const ChunkId> chunks);
  void enter_until(Ticks time);
  template <class Sentence>
  void reject(const Transfer& transfer, std::uint64_t index, const Sentence& sentence) {
    if (pass_ == Pass::kFirst) {
      violations_.add(transfer, index, sentence);
    }
  }

  const Topology& topology_;
  const ChunkTable& chunks_;
  std::uint32_t num_chunks_;
  /// The first chunks whose size is one of two: all, or none when they have a table of sizes.
  std::uint32_t num_simple_;
  bool equal_sizes_;
  /// The larger and the smaller size of chunks.
  std::array<Bytes, 2> sizes_;
  /// Row 0: the chunks that are a byte smaller than the largest; empty when all are equal.
  BitMatrix smaller_;
  Violations& violations_;
  std::vector<Wire> wires_;
  Pass pass_ = Pass::kFirst;
  Ticks clock_;
  EventQueue<Entry> entries_;
  std::vector<Entry> entering_;
  std::vector<ChunkId> sorted_;
};

}  // namespace tacos
