// SPDX-License-Identifier: MIT
// Where each chunk lies in the buffer. Equal chunks (to within a byte) are one rule, not a table.
#pragma once

#include <cstdint>

#include "tacos/ids.h"
#include "tacos/units.h"

namespace tacos {

/// `count` chunks cut from `size` bytes: chunk c covers [c*size/count, (c+1)*size/count).
class ChunkTable {
 public:
  ChunkTable() = default;
  ChunkTable(Bytes size, std::uint32_t count) : size_(size), count_(count) {}

  [[nodiscard]] Bytes size() const { return size_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] Bytes offset(ChunkId chunk) const { return {cut(chunk.value())}; }
  [[nodiscard]] Bytes bytes(ChunkId chunk) const {
    return {cut(std::int64_t{chunk.value()} + 1) - cut(chunk.value())};
  }
  /// Size of the largest chunk; the smallest is this or one byte less.
  [[nodiscard]] Bytes max_bytes() const {
    return {count_ == 0 ? 0 : size_.count / count_ + (size_.count % count_ != 0 ? 1 : 0)};
  }

  friend bool operator==(const ChunkTable&, const ChunkTable&) = default;

 private:
  // size = q*count + r gives c*size/count = c*q + c*r/count without leaving 64 bits.
  [[nodiscard]] std::int64_t cut(std::int64_t chunk) const {
    return size_.count / count_ * chunk + size_.count % count_ * chunk / count_;
  }

  Bytes size_;
  std::uint32_t count_ = 0;
};

}  // namespace tacos
