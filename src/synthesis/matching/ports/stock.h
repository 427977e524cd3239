// SPDX-License-Identifier: MIT
// What every NPU holds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory/bit_matrix.h"
#include "synthesis/common/spread_task.h"

namespace tacos::matching {

/// As bits, and in the order in which it came, so that who has looked at an NPU before sees at once
/// what is new.
class Stock {
 public:
  explicit Stock(const SpreadTask& task)
      : num_chunks_(task.num_chunks),
        bits_(task.held),
        log_(task.held.rows() * task.num_chunks),
        held_(task.held.rows(), 0) {
    for (std::uint32_t npu = 0; npu < held_.size(); ++npu) {
      for (std::uint32_t chunk = 0; chunk < num_chunks_; ++chunk) {
        if (bits_.test(npu, chunk)) {
          log(npu, chunk);
        }
      }
    }
  }

  void land(std::uint32_t npu, std::uint32_t chunk) {
    bits_.set(npu, chunk);
    log(npu, chunk);
  }
  [[nodiscard]] bool has(std::uint32_t npu, std::uint32_t chunk) const {
    return bits_.test(npu, chunk);
  }
  [[nodiscard]] std::span<const BitMatrix::Word> row(std::uint32_t npu) const {
    return bits_.row(npu);
  }
  /// In the order in which it came.
  [[nodiscard]] std::span<const std::uint32_t> log(std::uint32_t npu) const {
    return std::span(log_).subspan(std::size_t{npu} * num_chunks_, held_[npu]);
  }
  [[nodiscard]] std::uint32_t held(std::uint32_t npu) const { return held_[npu]; }

 private:
  void log(std::uint32_t npu, std::uint32_t chunk) {
    log_[std::size_t{npu} * num_chunks_ + held_[npu]++] = chunk;
  }

  std::size_t num_chunks_;
  BitMatrix bits_;
  std::vector<std::uint32_t> log_;
  std::vector<std::uint32_t> held_;
};

}  // namespace tacos::matching
