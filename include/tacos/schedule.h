// SPDX-License-Identifier: MIT
// The product: every transfer of a collective, in start order.
//
// Readers see a cursor, never a vector, so that arrays, patterns, trees, arrival logs and streams
// from disk can all be schedules. Explicit schedules are kept in the blocks of
// docs/schedule-format.md, three to eight bytes a transfer, in memory as on disk, or at scale as
// the logs that they were made from, two to three bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
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

/// A few transfers that every NPU makes in its own place (src/schedule/patterns/pattern.h).
struct Pattern;
/// The same where the network is symmetric in some other way (src/schedule/patterns/orbits.h).
struct OrbitPattern;

/// Anything that can list transfers in start order.
class TransferSource {
 public:
  TransferSource() = default;
  TransferSource(const TransferSource&) = delete;
  TransferSource& operator=(const TransferSource&) = delete;
  virtual ~TransferSource() = default;
  [[nodiscard]] virtual std::unique_ptr<TransferCursor> cursor() const = 0;
  /// The same batches from the last to the first, each still in start order; null when the source
  /// can only be read forwards.
  [[nodiscard]] virtual std::unique_ptr<TransferCursor> reverse_cursor() const { return nullptr; }
  [[nodiscard]] virtual std::size_t memory_bytes() const = 0;
  /// What all transfers are translations of; null when they are listed one by one.
  [[nodiscard]] virtual const Pattern* pattern() const { return nullptr; }
  [[nodiscard]] virtual const OrbitPattern* orbits() const { return nullptr; }
  /// What its blocks take in a file; 0 when that is not known.
  [[nodiscard]] virtual std::uint64_t encoded_bytes() const { return 0; }
  /// Calls `read`, which may use cursors. Where several processes hold the transfers together, all
  /// of them call this: the first reads, and the others help until it is done.
  virtual void read_together(const std::function<void()>& read) const { read(); }
};

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

  Schedule(std::shared_ptr<const TransferSource> source, const Totals& totals)
      : source_(std::move(source)), totals_(totals) {}

  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] std::uint64_t num_transfers() const { return totals_.transfers; }
  [[nodiscard]] Ticks collective_time() const { return totals_.collective_time; }
  [[nodiscard]] std::uint64_t hash() const { return totals_.hash; }
  /// Cursors must not outlive the schedule.
  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const { return source_->cursor(); }
  [[nodiscard]] std::unique_ptr<TransferCursor> reverse_cursor() const {
    return source_->reverse_cursor();
  }
  [[nodiscard]] std::size_t memory_bytes() const { return source_->memory_bytes(); }
  [[nodiscard]] const Pattern* pattern() const { return source_->pattern(); }
  [[nodiscard]] const OrbitPattern* orbits() const { return source_->orbits(); }
  [[nodiscard]] std::uint64_t encoded_bytes() const { return source_->encoded_bytes(); }
  void read_together(const std::function<void()>& read) const { source_->read_together(read); }

 private:
  std::shared_ptr<const TransferSource> source_;
  Totals totals_;
};

}  // namespace tacos
