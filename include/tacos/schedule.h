// SPDX-License-Identifier: MIT
// The product: every transfer of a collective, in start order.
//
// Readers see a cursor, never a vector, so that arrays, patterns, timetables, arrival logs and
// streams from disk can all be schedules. Explicit schedules are kept in the blocks of
// docs/schedule-format.md, three to eight bytes a transfer, in memory as on disk, or at scale as
// the logs that they were made from, two to three bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tacos/ids.h"
#include "tacos/result.h"
#include "tacos/units.h"

namespace tacos {

enum class Op : std::uint8_t {
  kCopy,    ///< the receiver's value becomes the sender's
  kReduce,  ///< the sender's value is added to the receiver's
};

/// One or several chunks over one link, or over a route of links through switches.
struct Transfer {
  Ticks start;
  Op op = Op::kCopy;
  std::span<const LinkId> links;
  std::span<const ChunkId> chunks;
};

/// Transfers in decoded form, structure of arrays. Reused from block to block.
class TransferBatch {
 public:
  [[nodiscard]] std::size_t size() const { return start_.size(); }
  [[nodiscard]] bool empty() const { return start_.empty(); }
  [[nodiscard]] Transfer operator[](std::size_t index) const;
  /// Whether every transfer is one chunk over one link, so that `links()[i]` and `chunks()[i]`
  /// hold.
  [[nodiscard]] bool simple() const { return first_link_.empty() && first_chunk_.empty(); }
  [[nodiscard]] std::span<const Ticks> starts() const { return start_; }
  [[nodiscard]] std::span<const Op> ops() const { return op_; }
  [[nodiscard]] std::span<const LinkId> links() const { return links_; }
  [[nodiscard]] std::span<const ChunkId> chunks() const { return chunks_; }

  void clear();
  void append(const Transfer& transfer);
  /// Transfers of one chunk over one link each that start together; `links` and `chunks` are of
  /// equal length.
  void append_run(Ticks start,
                  Op op,
                  std::span<const LinkId> links,
                  std::span<const ChunkId> chunks);
  /// Some transfers of another batch, from `from` up to `to`.
  void append(const TransferBatch& other, std::size_t from, std::size_t to);

 private:
  friend struct BlockCodec;
  std::vector<Ticks> start_;
  std::vector<Op> op_;
  std::vector<LinkId> links_;
  std::vector<ChunkId> chunks_;
  // First link and chunk of each transfer, plus an end; left empty while the batch is simple.
  std::vector<std::uint32_t> first_link_;
  std::vector<std::uint32_t> first_chunk_;
};

/// Walks a schedule once, in start order.
class TransferCursor {
 public:
  TransferCursor() = default;
  TransferCursor(const TransferCursor&) = delete;
  TransferCursor& operator=(const TransferCursor&) = delete;
  virtual ~TransferCursor() = default;
  /// Replaces `batch` by the next transfers, of any number; an empty batch is the end. Fails when a
  /// file does.
  [[nodiscard]] virtual Status next(TransferBatch& batch) = 0;
};

/// What a schedule reads its transfers from (src/schedule/source.h).
class TransferSource;

/// A schedule is a value: copies share the immutable transfers.
class Schedule {
 public:
  struct Totals {
    std::uint64_t transfers = 0;
    /// Chunks moved; more than transfers when some share one.
    std::uint64_t moves = 0;
    /// When the last transfer ends.
    Ticks collective_time;
    /// Of the encoded transfers: equal schedules have equal hashes.
    std::uint64_t hash = 0;

    friend bool operator==(const Totals&, const Totals&) = default;
  };

  /// With the hash, for which a schedule that has just been made may be read once.
  [[nodiscard]] Totals totals() const;
  [[nodiscard]] std::uint64_t num_transfers() const { return totals_.transfers; }
  [[nodiscard]] std::uint64_t num_moves() const { return totals_.moves; }
  [[nodiscard]] Ticks collective_time() const { return totals_.collective_time; }
  [[nodiscard]] std::uint64_t hash() const { return totals().hash; }
  /// Cursors must not outlive the schedule.
  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const;
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  friend Schedule make_schedule(std::shared_ptr<const TransferSource> source, const Totals& totals);
  friend const TransferSource& source_of(const Schedule& schedule);
  Schedule(std::shared_ptr<const TransferSource> source, const Totals& totals)
      : source_(std::move(source)), totals_(totals) {}

  std::shared_ptr<const TransferSource> source_;
  /// Without the hash where the source has it.
  Totals totals_;
};

}  // namespace tacos
