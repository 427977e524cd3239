// SPDX-License-Identifier: MIT
// The data of a copying collective: one bit per NPU and chunk.
//
// Nothing is ever added, so all who hold a chunk hold the same: its value needs no place, a chunk
// cannot be overwritten by something else, and arrivals at one instant may be applied in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tacos/collective.h"
#include "tacos/ids.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"
#include "tacos/units.h"

#include "base/event_queue.h"
#include "base/memory/bit_matrix.h"
#include "verify/violations.h"
#include "verify/wires.h"

namespace tacos {

class Copies {
 public:
  Copies(const Topology& topology, const Collective& collective, Violations& violations);

  [[nodiscard]] static bool allows(Op op, ChunkId /*chunk*/) { return op == Op::kCopy; }
  [[nodiscard]] static bool covers(ChunkId /*chunk*/) { return true; }

  void prefetch(NodeId node, ChunkId chunk) const {
    if (chunk.value() < collective_.num_chunks() && node.value() < num_npus_) {
      __builtin_prefetch(&held_.row(node.index())[chunk.index() / BitMatrix::kWordBits]);
    }
  }
  /// Applies what arrives up to and including `now`.
  void advance(Ticks now) {
    while (arrivals_.next_time() <= now) {
      arrive();
    }
  }
  [[nodiscard]] bool holds(NodeId node, ChunkId chunk) const {
    return held_.test(node.index(), chunk.index());
  }
  /// A chunk that is not there is delivered all the same: it was reported once, and that is enough.
  void send(const Flight& flight,
            const Transfer& transfer,
            ChunkId chunk,
            std::uint64_t /*index*/) {
    arrivals_.push(transfer.start, {flight.end, flight.dst, chunk});
  }
  /// Applies the remaining arrivals and reports who lacks what.
  void finish();

 private:
  struct Arrival {
    Ticks time;
    NodeId node;
    ChunkId chunk;
  };
  void arrive();
  void require(NodeId node, ChunkId chunk);

  const Collective& collective_;
  Violations& violations_;
  std::uint32_t num_npus_;
  BitMatrix held_;
  EventQueue<Arrival> arrivals_;
  std::vector<Arrival> arriving_;
};

}  // namespace tacos
