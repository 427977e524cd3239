// SPDX-License-Identifier: MIT
// Rarest-first maximum matching between the links that arrive together at an NPU and the chunks
// that they could bring.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/memory/bit_matrix.h"
#include "synthesis/matching/direct/arrival_log.h"
#include "synthesis/matching/holders.h"

namespace tacos::matching {

inline constexpr std::uint32_t kNoChunk = ~std::uint32_t{0};

class RarestChoice {
 public:
  RarestChoice(std::uint32_t num_chunks, const GatherNetwork& network);

  void start_at(std::uint32_t npu, std::uint32_t chunk);
  void deliver(std::uint32_t npu, std::uint32_t chunk, GridTime time);

  /// Decides for each in-link of `group`, all arriving at `npu` at `now`; `salt` breaks ties.
  void match(const ArrivalLog& log,
             std::uint32_t npu,
             GridTime now,
             std::span<const std::uint32_t> group,
             std::uint64_t salt);
  /// What the last match chose for an in-link of its group; kNoChunk for nothing.
  [[nodiscard]] std::uint32_t choice(std::uint32_t in_link) const { return choice_[in_link]; }

 private:
  struct Option {
    /// Holders of the chunk, then random bits: smaller is better.
    std::uint64_t key = 0;
    std::uint32_t chunk = 0;
    /// Position in the group.
    std::uint32_t link = 0;
  };
  void collect(const ArrivalLog& log,
               std::uint32_t npu,
               const InLink& link,
               GridTime start,
               std::uint64_t salt);
  bool augment(std::uint32_t run);

  const GatherNetwork& network_;
  std::uint32_t num_chunks_;
  Holders holders_;
  /// Arrival by (NPU, chunk); meaningful where the chunk is held.
  std::vector<GridTime> arrival_;
  std::vector<std::uint32_t> choice_;

  // Of the match under way:
  std::vector<BitMatrix::Word> offered_;
  std::vector<Option> best_;
  std::vector<Option> options_;
  /// Per link of the group: where the options of the chunk it is matched with begin in options_.
  std::vector<std::uint32_t> run_of_link_;
  std::vector<std::uint32_t> visited_;
  std::uint32_t visit_ = 0;
};

}  // namespace tacos::matching
