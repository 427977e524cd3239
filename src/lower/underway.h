// SPDX-License-Identifier: MIT
// What is on its way while a schedule is followed in time order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tacos/schedule.h"

#include "base/event_queue.h"

namespace tacos::lowering {

/// `Cargo` is what must be known of a transfer when it arrives, beside its chunks.
template <class Cargo>
class Underway {
 public:
  /// Transfers start one after the other.
  void send_off(const Transfer& transfer, Ticks end, const Cargo& cargo) {
    const bool one = transfer.chunks.size() == 1;
    const std::uint32_t list = one ? 0 : keep(transfer.chunks);
    // Made in its place: what is copied as soon as it is written stalls.
    queue_.push_all(transfer.start, end, 1, [&](std::size_t /*number*/) {
      return Flight{.time = end,
                    .number = sent_,
                    .cargo = cargo,
                    .op = transfer.op,
                    .chunk = one ? transfer.chunks.front() : ChunkId(),
                    .list = list};
    });
    ++sent_;
  }

  /// Calls arrive(cargo, op, chunks) for all that arrive by then, in time order, of equals those
  /// first that were sent first.
  template <class Arrive>
  void arrive_until(Ticks now, const Arrive& arrive) {
    while (queue_.next_time() <= now) {
      queue_.take_next(arrived_);
      const auto sent_before = [](const Flight& a, const Flight& b) { return a.number < b.number; };
      if (!std::is_sorted(arrived_.begin(), arrived_.end(), sent_before)) {
        std::sort(arrived_.begin(), arrived_.end(), sent_before);
      }
      for (const Flight& flight : arrived_) {
        if (flight.chunk.valid()) {
          arrive(flight.cargo, flight.op, std::span(&flight.chunk, 1));
        } else {
          arrive(flight.cargo, flight.op, std::span<const ChunkId>(lists_[flight.list]));
          free_.push_back(flight.list);
        }
      }
    }
  }

 private:
  struct Flight {
    /// Of its arrival.
    Ticks time;
    std::uint64_t number = 0;
    Cargo cargo;
    Op op = Op::kCopy;
    /// Its only chunk, or else the list that has them.
    ChunkId chunk;
    std::uint32_t list = 0;
  };

  [[nodiscard]] std::uint32_t keep(std::span<const ChunkId> chunks) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(lists_.size()));
      lists_.emplace_back();
    }
    const std::uint32_t list = free_.back();
    free_.pop_back();
    lists_[list].assign(chunks.begin(), chunks.end());
    return list;
  }

  EventQueue<Flight> queue_;
  std::vector<Flight> arrived_;
  std::uint64_t sent_ = 0;
  /// Of transfers of several chunks; those that have arrived are used again.
  std::vector<std::vector<ChunkId>> lists_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tacos::lowering
