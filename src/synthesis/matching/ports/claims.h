// SPDX-License-Identifier: MIT
// Who holds or is being sent what: every NPU, and the neighbourhoods at every level of speed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory/bit_matrix.h"
#include "synthesis/matching/ports/speed_levels.h"

namespace tacos::matching {

/// Nothing is ever given up, so whatever an NPU may be sent now becomes less with time.
class Claims {
 public:
  using Word = BitMatrix::Word;

  Claims(const SpeedLevels& levels,
         std::uint32_t num_npus,
         std::uint32_t num_nodes,
         std::uint32_t num_chunks)
      : levels_(levels),
        num_nodes_(num_nodes),
        by_npu_(num_npus, num_chunks),
        by_neighbourhood_(std::size_t{levels.num_levels()} * num_nodes, num_chunks),
        npu_has_(num_npus, 0),
        neighbourhood_has_(std::size_t{levels.num_levels()} * num_nodes, 0),
        news_(num_nodes, 0) {
    for (std::uint32_t npu = 0; npu < num_npus; ++npu) {
      widest_.push_back(levels.component(levels.num_levels() - 1, npu));
    }
  }

  /// The chunk, which the NPU did not have, is its own or on its way to it; `first(level)` is
  /// called for every level at which it is the first of its neighbourhood. Whether some
  /// neighbourhood now owes others more.
  template <class First>
  bool add(std::uint32_t npu, std::uint32_t chunk, const First& first) {
    bool owes_more = false;
    by_npu_.set(npu, chunk);
    ++npu_has_[npu];
    for (std::uint32_t level = 0; level < levels_.num_levels(); ++level) {
      const std::size_t row = neighbourhood(level, npu);
      if (!by_neighbourhood_.test(row, chunk)) {
        by_neighbourhood_.set(row, chunk);
        ++neighbourhood_has_[row];
        first(level);
        // At the fastest level there are no others.
        owes_more = owes_more || level > 0;
      }
    }
    news_[widest_[npu]] += owes_more ? 1 : 0;
    return owes_more;
  }

  [[nodiscard]] bool by_npu(std::uint32_t npu, std::uint32_t chunk) const {
    return by_npu_.test(npu, chunk);
  }
  [[nodiscard]] std::span<const Word> row_of_npu(std::uint32_t npu) const {
    return by_npu_.row(npu);
  }
  /// By the NPU's neighbourhood of links faster than those of a level.
  [[nodiscard]] bool by_neighbourhood(std::uint32_t level,
                                      std::uint32_t npu,
                                      std::uint32_t chunk) const {
    return by_neighbourhood_.test(neighbourhood(level, npu), chunk);
  }
  [[nodiscard]] std::span<const Word> row_of_neighbourhood(std::uint32_t level,
                                                           std::uint32_t npu) const {
    return by_neighbourhood_.row(neighbourhood(level, npu));
  }
  /// Chunks of the neighbourhood that the NPU lacks.
  [[nodiscard]] std::uint32_t owed(std::uint32_t level, std::uint32_t npu) const {
    return neighbourhood_has_[neighbourhood(level, npu)] - npu_has_[npu];
  }
  /// Grows with what neighbourhoods within the widest owe.
  [[nodiscard]] std::uint64_t news(std::uint32_t npu) const { return news_[widest_[npu]]; }

 private:
  [[nodiscard]] std::size_t neighbourhood(std::uint32_t level, std::uint32_t npu) const {
    return std::size_t{level} * num_nodes_ + levels_.component(level, npu);
  }

  const SpeedLevels& levels_;
  std::uint32_t num_nodes_;
  BitMatrix by_npu_;
  BitMatrix by_neighbourhood_;
  std::vector<std::uint32_t> npu_has_;
  std::vector<std::uint32_t> neighbourhood_has_;
  /// By NPU.
  std::vector<std::uint32_t> widest_;
  std::vector<std::uint64_t> news_;
};

}  // namespace tacos::matching
