// SPDX-License-Identifier: MIT
// Checks the transfers of strips, and sorts them into the buckets of the slices that they concern.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tacos/schedule.h"
#include "tacos/units.h"

#include "schedule/stretches.h"
#include "verify/buckets.h"
#include "verify/violations.h"
#include "verify/wire_table.h"
#include "verify/wires.h"

namespace tacos {

/// One strip at a time.
class Sorter final : public StripSink {
 public:
  /// `free_at` has the time when each link is free again, of all strips, or nothing where links are
  /// not looked at here.
  Sorter(const WireTable& table, const Slices& slices, std::span<Ticks> free_at)
      : table_(table),
        slices_(slices),
        free_at_(free_at),
        violations_(table.topology(), 0),
        wires_(table, Pass::kFirst, violations_),
        buckets_(slices.count()),
        latest_(slices.chunks.num_slices()) {}

  /// Empties the buckets.
  void begin_strip();
  void add(const TransferBatch& batch) override;
  void append_run(Ticks start,
                  Op op,
                  std::span<const LinkId> links,
                  std::span<const ChunkId> chunks) override;
  /// Of the chunks, then of the links.
  [[nodiscard]] std::span<const Bucket> buckets() const { return buckets_; }

  struct Tally {
    /// Of all strips.
    std::uint64_t transfers = 0;
    std::uint64_t moves = 0;
    Ticks latest;
    /// Of this one: when its first and its last transfer start.
    Ticks first = kMaxTime;
    Ticks last;
    /// Whether all transfers so far make sense, come in start order and, where that is looked at,
    /// find their links free.
    bool sound = true;
  };
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  void add_any(const Transfer& transfer);
  void end_run(Ticks start, Op op, std::span<const LinkId> links, std::span<const ChunkId> chunks);
  [[nodiscard]] Bucket& of_chunk(ChunkId chunk) {
    return buckets_[slices_.chunks.slice(chunk.value())];
  }
  [[nodiscard]] Bucket& of_link(LinkId link) {
    return buckets_[latest_.size() + slices_.links.slice(link.value())];
  }

  const WireTable& table_;
  Slices slices_;
  std::span<Ticks> free_at_;
  Violations violations_;
  Wires wires_;
  std::vector<Bucket> buckets_;
  Tally tally_;
  /// Per slice of chunks: the last transfer of which it got several, by its number.
  std::vector<std::uint64_t> latest_;
};

}  // namespace tacos
