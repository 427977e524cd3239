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

struct BlockCodec {
  /// Appends the encoded batch to `out`.
  static void encode(const TransferBatch& batch,
                     std::uint32_t num_links,
                     std::vector<std::byte>& out);
  /// Fails on anything that `encode` would not have written.
  [[nodiscard]] static Status decode(std::span<const std::byte> block,
                                     std::uint32_t num_links,
                                     TransferBatch& batch);
};

}  // namespace tacos
