// SPDX-License-Identifier: MIT
// A schedule as arrays, one element for each transfer: for those who calculate with whole columns.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "tacos/result.h"
#include "tacos/schedule.h"

namespace tacos {

/// Transfers in start order. Transfer i has the links from first_link[i] up to first_link[i + 1],
/// and its chunks likewise; where every transfer has one of each both are empty.
struct ScheduleColumns {
  /// In picoseconds.
  std::span<const std::int64_t> start;
  std::span<const Op> op;
  std::span<const std::uint32_t> links;
  std::span<const std::uint32_t> chunks;
  std::span<const std::uint64_t> first_link;
  std::span<const std::uint64_t> first_chunk;
  /// Where they are; whoever keeps this keeps them.
  std::shared_ptr<const void> memory;
};

/// Decodes all of it, once: 17 bytes a transfer. Fails when it cannot be read or there is too
/// little memory. `threads` never changes the result.
[[nodiscard]] Result<ScheduleColumns> read_columns(const Schedule& schedule, int threads = 1);

}  // namespace tacos
