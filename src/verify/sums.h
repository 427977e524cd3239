// SPDX-License-Identifier: MIT
// The data of a reducing collective: the value of each NPU's share of each chunk, for the block of
// chunks that the memory has room for.
#pragma once

#include <algorithm>
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
#include "verify/move.h"
#include "verify/violations.h"
#include "verify/wires.h"

namespace tacos {

class Sums {
 public:
  /// What a place takes.
  static constexpr std::size_t kPlaceBytes = 16;
  /// How many chunks fit into the memory; at least one.
  [[nodiscard]] static std::uint32_t chunks_within(std::size_t memory_bytes,
                                                   std::uint32_t num_npus,
                                                   std::uint32_t num_chunks);

  /// Holds the chunks [first, first + count).
  Sums(const Topology& topology,
       const Collective& collective,
       Violations& violations,
       std::uint32_t first,
       std::uint32_t count);

  /// A chunk that is no sum may only be copied.
  [[nodiscard]] bool allows(Op op, ChunkId chunk) const {
    return !mixed_ || op == Op::kCopy || chunk.value() >= collective_.num_chunks() ||
           collective_.reduces(chunk);
  }
  [[nodiscard]] bool covers(ChunkId chunk) const { return chunk.value() - first_ < count_; }

  void prefetch(NodeId node, ChunkId chunk) const {
    if (covers(chunk) && node.value() < num_npus_) {
      __builtin_prefetch(&places_[at(node, chunk)]);
    }
  }
  /// Applies what arrives up to and including `now`.
  void advance(Ticks now) {
    while (arrivals_.next_time() <= now) {
      arrive();
    }
  }
  [[nodiscard]] bool holds(NodeId node, ChunkId chunk) const {
    return places_[at(node, chunk)].sent_until >= Ticks{};
  }
  /// What is not there is sent as zero.
  void send(const Flight& flight, const Transfer& transfer, ChunkId chunk, std::uint64_t index) {
    Place& place = places_[at(flight.src, chunk)];
    if (place.sent_until >= Ticks{}) {
      place.sent_until = std::max(place.sent_until, flight.end);
    }
    arrivals_.push(transfer.start,
                   {flight.end, place.value, index, flight.dst, chunk, transfer.op});
  }
  /// The same for moves that all start and end together; false when some are not there, or may not
  /// be added.
  [[nodiscard]] bool send_all(Ticks start, Ticks end, Op op, std::span<const Move> moves) {
    constexpr std::size_t kAhead = 16;
    bool good = true;
    arrivals_.push_all(start, end, moves.size(), [&](std::size_t i) {
      if (i + kAhead < moves.size()) {
        __builtin_prefetch(&places_[at(moves[i + kAhead].src, moves[i + kAhead].chunk)]);
      }
      const Move& move = moves[i];
      Place& place = places_[at(move.src, move.chunk)];
      good &= place.sent_until >= Ticks{} && allows(op, move.chunk);
      place.sent_until = std::max(place.sent_until, end);
      return Arrival{end, place.value, 0, move.dst, move.chunk, op};
    });
    return good;
  }
  /// All that is under way is in the queue.
  static void keep() {}
  /// Applies the remaining arrivals and reports every wrong sum.
  void finish();

 private:
  struct Place {
    std::uint64_t value = 0;
    /// When the last transfer of it so far has ended, 0 before any; kAbsent: nothing is here.
    Ticks sent_until = kAbsent;
  };
  static_assert(sizeof(Place) == kPlaceBytes);
  static constexpr Ticks kAbsent{-1};

  struct Arrival {
    Ticks time;
    std::uint64_t value = 0;
    std::uint64_t transfer = 0;
    NodeId node;
    ChunkId chunk;
    Op op = Op::kCopy;
  };

  [[nodiscard]] std::size_t at(NodeId node, ChunkId chunk) const {
    return std::size_t{chunk.value() - first_} * num_npus_ + node.index();
  }
  void arrive();
  void apply(const Arrival& arrival);
  void report_wrong_sum(NodeId node, ChunkId chunk, std::uint64_t expected);

  /// What a participant brings to a chunk, and what must be there at the end.
  [[nodiscard]] std::uint64_t share(std::uint32_t participant, ChunkId chunk) const;
  [[nodiscard]] std::uint64_t complete(ChunkId chunk) const;

  const Collective& collective_;
  /// Whether some chunks are sums and others copies.
  bool mixed_;
  Violations& violations_;
  std::uint32_t num_npus_;
  std::uint32_t first_;
  std::uint32_t count_;
  std::vector<Place> places_;
  EventQueue<Arrival> arrivals_;
  std::vector<Arrival> arriving_;
};

}  // namespace tacos
