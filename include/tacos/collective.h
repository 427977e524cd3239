// SPDX-License-Identifier: MIT
// What must arrive where: pre- and postconditions as functions of (chunk, participant).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/ids.h"
#include "tacos/result.h"
#include "tacos/units.h"

namespace tacos {

enum class CollectiveKind {
  kAllGather,
  kReduceScatter,
  kAllReduce,
};
[[nodiscard]] std::string_view to_string(CollectiveKind kind);
/// Names as on the command line, with "did you mean" on failure.
[[nodiscard]] Result<CollectiveKind> parse_collective_kind(std::string_view name);
[[nodiscard]] std::span<const CollectiveKind> collective_kinds();

/// A collective over a list of participants, its buffer cut into chunks.
///
/// Participants are numbered 0..n-1 in increasing NPU order; participant number and NPU id differ
/// as soon as an NPU takes no part.
class Collective {
 public:
  /// `chunks` is chunks per participant, or for All-Reduce the number the buffer is cut into.
  static Result<Collective> make(CollectiveKind kind,
                                 Bytes size,
                                 std::int64_t chunks,
                                 std::vector<NodeId> participants);
  /// Over NPUs 0..npus-1.
  static Result<Collective> over_all(CollectiveKind kind,
                                     Bytes size,
                                     std::int64_t chunks,
                                     std::uint32_t npus);

  [[nodiscard]] CollectiveKind kind() const { return kind_; }
  /// The whole buffer, counted as nccl-tests does.
  [[nodiscard]] Bytes size() const { return table_.size(); }
  [[nodiscard]] std::span<const NodeId> participants() const { return participants_; }
  [[nodiscard]] std::uint32_t num_participants() const {
    return static_cast<std::uint32_t>(participants_.size());
  }
  [[nodiscard]] std::uint32_t num_chunks() const { return table_.count(); }
  [[nodiscard]] const ChunkTable& chunks() const { return table_; }
  /// What `make` was given.
  [[nodiscard]] std::int64_t chunk_argument() const;

  /// Precondition: this participant starts with the chunk, or with a share of its sum.
  [[nodiscard]] bool starts_with(ChunkId chunk, std::uint32_t participant) const;
  /// Postcondition: this participant ends with the complete chunk.
  [[nodiscard]] bool ends_with(ChunkId chunk, std::uint32_t participant) const;
  /// Whether a complete chunk is the sum of what participants started with.
  [[nodiscard]] bool reduces() const { return kind_ != CollectiveKind::kAllGather; }
  /// The one participant that starts (All-Gather) or ends (Reduce-Scatter) with the chunk.
  [[nodiscard]] std::uint32_t owner(ChunkId chunk) const;

  /// busbw = algbw x this factor, as in nccl-tests.
  [[nodiscard]] double bus_factor() const;

  friend bool operator==(const Collective&, const Collective&) = default;

 private:
  CollectiveKind kind_ = CollectiveKind::kAllGather;
  ChunkTable table_;
  std::vector<NodeId> participants_;
};

/// Chunk ids are 32-bit, and a chunk of no bytes has nothing to move.
inline constexpr std::int64_t kMaxChunks = 1LL << 31U;
inline constexpr std::int64_t kMaxSizeBytes = 1LL << 60U;

}  // namespace tacos
