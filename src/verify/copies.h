// SPDX-License-Identifier: MIT
// The data of a copying collective: one bit per NPU and chunk, for all chunks or some that follow
// each other.
//
// Nothing is ever added, so all who hold a chunk hold the same: its value needs no place, a chunk
// cannot be overwritten by something else, and arrivals at one instant may be applied in any order.
//
// Where all transfers take a step, whatever starts together arrives before anything else starts. So
// moves that were sent together are first left where they are, and need no place in the queue of
// arrivals unless something starts before they arrive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tacos/collective.h"
#include "tacos/ids.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"
#include "tacos/units.h"

#include "base/event_queue.h"
#include "base/memory/bit_matrix.h"
#include "verify/move.h"
#include "verify/violations.h"
#include "verify/wires.h"

namespace tacos {

class Copies {
 public:
  /// Holds the chunks [first, first + count).
  Copies(const Topology& topology,
         const Collective& collective,
         Violations& violations,
         std::uint32_t first,
         std::uint32_t count);

  [[nodiscard]] static bool allows(Op op, ChunkId /*chunk*/) { return op == Op::kCopy; }
  [[nodiscard]] bool covers(ChunkId chunk) const { return chunk.value() - first_ < count_; }

  void prefetch(NodeId node, ChunkId chunk) const {
    if (covers(chunk) && node.value() < num_npus_) {
      fetch(node, chunk);
    }
  }
  /// Applies what arrives up to and including `now`.
  void advance(Ticks now) {
    if (now > sent_at_ && !sent_.empty()) {
      settle(now);
    }
    while (arrivals_.next_time() <= now) {
      arrive();
    }
  }
  [[nodiscard]] bool holds(NodeId node, ChunkId chunk) const {
    return held_.test(node.index(), column(chunk));
  }
  /// A chunk that is not there is delivered all the same: it was reported once, and that is enough.
  void send(const Flight& flight,
            const Transfer& transfer,
            ChunkId chunk,
            std::uint64_t /*index*/) {
    arrivals_.push(transfer.start, {flight.end, flight.dst, chunk});
  }
  /// The same for moves that all start and end together; false when some are not held. They must
  /// stay where they are until keep() is called.
  [[nodiscard]] bool send_all(Ticks start, Ticks end, Op op, std::span<const Move> moves) {
    constexpr std::size_t kAhead = 16;
    bool held = op == Op::kCopy;
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (i + kAhead < moves.size()) {
        fetch(moves[i + kAhead].src, moves[i + kAhead].chunk);
      }
      held &= holds(moves[i].src, moves[i].chunk);
    }
    sent_at_ = start;
    sent_.push_back({end, moves});
    return held;
  }
  /// Remembers what is under way by itself.
  void keep() { settle(sent_at_); }
  /// Applies the remaining arrivals and reports who lacks what.
  void finish();

 private:
  struct Arrival {
    Ticks time;
    NodeId node;
    ChunkId chunk;
  };
  [[nodiscard]] std::size_t column(ChunkId chunk) const { return chunk.value() - first_; }
  void fetch(NodeId node, ChunkId chunk) const {
    __builtin_prefetch(&held_.row(node.index())[column(chunk) / BitMatrix::kWordBits]);
  }
  void arrive();
  /// Of what was sent last: applies what has arrived by `now`, and puts the rest into the queue.
  void settle(Ticks now);
  void require(NodeId node, ChunkId chunk);

  const Collective& collective_;
  Violations& violations_;
  std::uint32_t num_npus_;
  std::uint32_t first_;
  std::uint32_t count_;
  BitMatrix held_;
  EventQueue<Arrival> arrivals_;
  std::vector<Arrival> arriving_;
  struct Sent {
    Ticks end;
    std::span<const Move> moves;
  };
  /// What was sent last, all at one time, and is not in the queue.
  Ticks sent_at_;
  std::vector<Sent> sent_;
};

}  // namespace tacos
