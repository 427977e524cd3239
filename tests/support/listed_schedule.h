// SPDX-License-Identifier: MIT
// Schedules written down by hand, right or wrong: nothing here refuses nonsense.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tacos/chunk_table.h"
#include "tacos/ids.h"
#include "tacos/schedule.h"
#include "tacos/topology.h"
#include "tacos/units.h"

namespace tacos::test {

struct ListedTransfer {
  std::int64_t start = 0;
  Op op = Op::kCopy;
  std::vector<std::uint32_t> links;
  std::vector<std::uint32_t> chunks;

  friend bool operator==(const ListedTransfer&, const ListedTransfer&) = default;
};

[[nodiscard]] ListedTransfer listed(const Transfer& transfer);
/// All of a schedule that can be read, in its order.
[[nodiscard]] std::vector<ListedTransfer> listed(const Schedule& schedule);

/// What the transfers amount to; those over links or chunks that do not exist take no time.
[[nodiscard]] Schedule::Totals totals_of(const std::vector<ListedTransfer>& transfers,
                                         const Topology& topology,
                                         const ChunkTable& chunks);

/// In the order given, in batches of `batch_size`.
[[nodiscard]] Schedule listed_schedule(std::vector<ListedTransfer> transfers,
                                       const Schedule::Totals& totals,
                                       std::size_t batch_size = 5);

}  // namespace tacos::test
