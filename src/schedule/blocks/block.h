// SPDX-License-Identifier: MIT
// One block of transfers as columns of bytes: docs/schedule-format.md, section "Blocks".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tacos/schedule.h"

namespace tacos {

/// A block holds at most this many transfers; every block but the last is full.
inline constexpr std::size_t kBlockTransfers = std::size_t{1} << 16U;

/// Transfers of one chunk over one link each, on their way into a block: what starts together is
/// said once.
class RunBlock {
 public:
  [[nodiscard]] std::size_t size() const { return links_.size(); }
  void clear();
  void append_run(Ticks start,
                  Op op,
                  std::span<const LinkId> links,
                  std::span<const ChunkId> chunks);

 private:
  friend struct BlockCodec;
  struct Run {
    Ticks start;
    Op op = Op::kCopy;
    std::size_t count = 0;
  };
  std::vector<Run> runs_;
  std::vector<LinkId> links_;
  std::vector<ChunkId> chunks_;
};

struct BlockCodec {
  /// Appends the encoded batch to `out`.
  static void encode(const TransferBatch& batch,
                     std::uint32_t num_links,
                     std::vector<std::byte>& out);
  static void encode(const RunBlock& block, std::uint32_t num_links, std::vector<std::byte>& out);
  /// Fails on anything that `encode` would not have written.
  [[nodiscard]] static Status decode(std::span<const std::byte> block,
                                     std::uint32_t num_links,
                                     TransferBatch& batch);
};

}  // namespace tacos
