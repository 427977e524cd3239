// SPDX-License-Identifier: MIT
// A schedule read by several threads: one stretch after the other, and each of its strips by one of
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tacos/ids.h"
#include "tacos/result.h"
#include "tacos/schedule.h"
#include "tacos/units.h"

namespace tacos {

/// Takes the transfers of a strip, in start order.
class StripSink {
 public:
  StripSink() = default;
  StripSink(const StripSink&) = delete;
  StripSink& operator=(const StripSink&) = delete;
  virtual ~StripSink() = default;

  virtual void add(const TransferBatch& batch) = 0;
  /// Transfers of one chunk over one link each that start together.
  virtual void append_run(Ticks start,
                          Op op,
                          std::span<const LinkId> links,
                          std::span<const ChunkId> chunks) = 0;
};

/// Of the transfers that this process holds. Where several hold a schedule together, their
/// stretches begin and end at the same times.
class Stretches {
 public:
  Stretches() = default;
  Stretches(const Stretches&) = delete;
  Stretches& operator=(const Stretches&) = delete;
  virtual ~Stretches() = default;

  /// Goes on to the next transfers, about `most` of them; false at the end. All strips must have
  /// been read.
  [[nodiscard]] virtual Result<bool> next(std::uint64_t most) = 0;
  [[nodiscard]] virtual std::size_t num_strips() const = 0;
  /// Whether the strips are side by side in time; or else one follows the other.
  [[nodiscard]] virtual bool side_by_side() const { return false; }

  /// Whether all that a link does in a stretch is in one of its strips, in every stretch.
  [[nodiscard]] virtual bool links_keep_to_strips() const { return false; }
  /// Each strip is read once, from any thread.
  [[nodiscard]] virtual Status read(std::size_t strip, StripSink& sink) = 0;
};

/// Of any schedule, by a cursor: all decoding is done in next().
[[nodiscard]] std::unique_ptr<Stretches> make_stretches(std::unique_ptr<TransferCursor> cursor);

}  // namespace tacos
