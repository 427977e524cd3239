// SPDX-License-Identifier: MIT
// What each NPU has, in the order in which it came: append-only, one row of fixed length per NPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/memory/bit_matrix.h"
#include "base/memory/huge_vector.h"
#include "synthesis/matching/direct/gather_network.h"

namespace tacos::matching {

/// The All-Gather to solve: chunk c starts at the NPU owners[c / chunks_per_owner].
struct GatherTask {
  std::span<const NodeId> owners;
  std::uint32_t chunks_per_owner = 1;

  [[nodiscard]] std::uint32_t num_chunks() const {
    return static_cast<std::uint32_t>(owners.size()) * chunks_per_owner;
  }
  [[nodiscard]] std::uint32_t start_of(std::uint32_t chunk) const {
    return owners[chunk / chunks_per_owner].value();
  }
  /// How many chunks each NPU needs.
  [[nodiscard]] std::vector<std::uint32_t> lacking(std::uint32_t num_npus) const {
    std::vector<std::uint32_t> lacking(num_npus, num_chunks());
    for (const NodeId owner : owners) {
      lacking[owner.index()] -= chunks_per_owner;
    }
    return lacking;
  }
};

/// Chunk ids and arrival times, 12 bytes each, and a bit per (NPU, chunk).
class ArrivalLog {
 public:
  ArrivalLog(std::uint32_t num_npus, std::uint32_t num_chunks)
      : num_chunks_(num_chunks),
        length_(num_npus, 0),
        chunks_(std::size_t{num_npus} * num_chunks),
        times_(chunks_.size()),
        held_(num_npus, num_chunks) {}

  [[nodiscard]] std::uint32_t num_chunks() const { return num_chunks_; }
  [[nodiscard]] std::uint32_t length(std::uint32_t npu) const { return length_[npu]; }
  [[nodiscard]] std::span<const std::uint32_t> lengths() const { return length_; }
  [[nodiscard]] bool complete(std::uint32_t npu) const { return length_[npu] == num_chunks_; }
  [[nodiscard]] bool holds(std::uint32_t npu, std::uint32_t chunk) const {
    return held_.test(npu, chunk);
  }
  [[nodiscard]] std::span<const BitMatrix::Word> held(std::uint32_t npu) const {
    return held_.row(npu);
  }
  [[nodiscard]] const std::uint32_t* chunks(std::uint32_t npu) const {
    return chunks_.data() + std::size_t{npu} * num_chunks_;
  }
  [[nodiscard]] const GridTime* times(std::uint32_t npu) const {
    return times_.data() + std::size_t{npu} * num_chunks_;
  }

  void append(std::uint32_t npu, std::uint32_t chunk, GridTime time) {
    const std::size_t at = std::size_t{npu} * num_chunks_ + length_[npu]++;
    chunks_[at] = chunk;
    times_[at] = time;
    held_.set(npu, chunk);
  }

 private:
  std::uint32_t num_chunks_;
  std::vector<std::uint32_t> length_;
  HugeVector<std::uint32_t> chunks_;
  HugeVector<GridTime> times_;
  BitMatrix held_;
};

}  // namespace tacos::matching
