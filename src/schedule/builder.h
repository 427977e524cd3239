// SPDX-License-Identifier: MIT
// Turns transfers that come in start order into a schedule held in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tacos/schedule.h"

#include "base/numbers/hash.h"
#include "schedule/blocks/block.h"
#include "schedule/source.h"

namespace tacos {

/// Encoded blocks in memory, as they would be in a file.
class BlockSource final : public TransferSource {
 public:
  explicit BlockSource(std::uint32_t num_links) : num_links_(num_links) {}

  void append(std::vector<std::byte> block);
  [[nodiscard]] std::size_t num_blocks() const { return blocks_.size(); }
  [[nodiscard]] std::span<const std::byte> block(std::size_t index) const { return blocks_[index]; }
  [[nodiscard]] std::uint32_t num_links() const { return num_links_; }
  [[nodiscard]] std::unique_ptr<TransferCursor> cursor() const override;
  [[nodiscard]] std::unique_ptr<TransferCursor> reverse_cursor() const override;
  [[nodiscard]] std::unique_ptr<Stretches> stretches(int threads) const override;
  [[nodiscard]] std::size_t memory_bytes() const override { return memory_bytes_; }
  [[nodiscard]] std::uint64_t encoded_bytes() const override { return encoded_bytes_; }

 private:
  std::uint32_t num_links_;
  std::vector<std::vector<std::byte>> blocks_;
  std::size_t memory_bytes_ = 0;
  std::uint64_t encoded_bytes_ = 0;
};

/// What a schedule amounts to, without its transfers.
struct ScheduleMeasure {
  Schedule::Totals totals;
  /// Of its blocks in a file.
  std::uint64_t encoded_bytes = 0;
};

/// Append in order of (start, first link); the order is part of the bytes.
class ScheduleBuilder {
 public:
  explicit ScheduleBuilder(std::uint32_t num_links);

  /// `end` is when the transfer's data is there.
  void append(const Transfer& transfer, Ticks end);
  /// One chunk over one link.
  void append(Ticks start, Op op, LinkId link, ChunkId chunk, Ticks end) {
    append({.start = start, .op = op, .links = {&link, 1}, .chunks = {&chunk, 1}}, end);
  }
  /// From now on nothing is kept, only measured.
  void measure_only() { keeps_ = false; }
  [[nodiscard]] Schedule build() &&;
  [[nodiscard]] ScheduleMeasure measure() &&;

 private:
  void flush();
  void finish();

  bool keeps_ = true;
  std::uint64_t encoded_bytes_ = 0;
  std::shared_ptr<BlockSource> source_;
  TransferBatch batch_;
  Schedule::Totals totals_;
  StreamHash hash_;
};

}  // namespace tacos
