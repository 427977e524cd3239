// SPDX-License-Identifier: MIT
// Where each chunk lies in the buffer. Equal chunks (to within a byte) are one rule, not a table.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tacos/ids.h"
#include "tacos/units.h"

namespace tacos {

/// `count` chunks cut from `size` bytes: chunk c covers [c*size/count, (c+1)*size/count). Or chunks
/// of any sizes, one after the other.
class ChunkTable {
 public:
  ChunkTable() = default;
  ChunkTable(Bytes size, std::uint32_t count) : size_(size), count_(count) {}
  /// Chunks of these sizes, whose sum must fit into 63 bits; they are kept as a rule where it says
  /// the same.
  explicit ChunkTable(std::span<const Bytes> sizes)
      : count_(static_cast<std::uint32_t>(sizes.size())) {
    auto table = std::make_shared<Table>();
    table->offsets.reserve(sizes.size() + 1);
    table->offsets.push_back(0);
    for (const Bytes bytes : sizes) {
      size_.count += bytes.count;
      table->offsets.push_back(size_.count);
      table->largest = std::max(table->largest, bytes.count);
    }
    for (std::uint32_t chunk = 0; chunk < count_; ++chunk) {
      if (cut(chunk) != table->offsets[chunk]) {
        table_ = std::move(table);
        return;
      }
    }
  }

  [[nodiscard]] Bytes size() const { return size_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// Whether chunks are equal to within a byte.
  [[nodiscard]] bool by_rule() const { return table_ == nullptr; }
  [[nodiscard]] Bytes offset(ChunkId chunk) const {
    return {by_rule() ? cut(chunk.value()) : table_->offsets[chunk.index()]};
  }
  [[nodiscard]] Bytes bytes(ChunkId chunk) const {
    if (!by_rule()) [[unlikely]] {
      return {table_->offsets[chunk.index() + 1] - table_->offsets[chunk.index()]};
    }
    return {cut(std::int64_t{chunk.value()} + 1) - cut(chunk.value())};
  }
  /// Of several chunks together.
  [[nodiscard]] Bytes bytes(std::span<const ChunkId> chunks) const {
    Bytes sum;
    for (const ChunkId chunk : chunks) {
      sum.count += bytes(chunk).count;
    }
    return sum;
  }
  /// Size of the largest chunk; by rule the smallest is this or one byte less.
  [[nodiscard]] Bytes max_bytes() const {
    if (!by_rule()) [[unlikely]] {
      return {table_->largest};
    }
    return {count_ == 0 ? 0 : size_.count / count_ + (size_.count % count_ != 0 ? 1 : 0)};
  }

  friend bool operator==(const ChunkTable& a, const ChunkTable& b) {
    return a.size_ == b.size_ && a.count_ == b.count_ && a.by_rule() == b.by_rule() &&
           (a.by_rule() || a.table_->offsets == b.table_->offsets);
  }

 private:
  struct Table {
    /// Of every chunk, and the end of the last.
    std::vector<std::int64_t> offsets;
    std::int64_t largest = 0;
  };

  // size = q*count + r gives c*size/count = c*q + c*r/count without leaving 64 bits.
  [[nodiscard]] std::int64_t cut(std::int64_t chunk) const {
    return size_.count / count_ * chunk + size_.count % count_ * chunk / count_;
  }

  Bytes size_;
  std::uint32_t count_ = 0;
  /// Nothing when the rule holds. Shared, since it never changes.
  std::shared_ptr<const Table> table_;
};

}  // namespace tacos
