// SPDX-License-Identifier: MIT
// What a round of trees asks of every link, and how long that takes when chunks share transfers.
#pragma once

#include <cstdint>
#include <vector>

#include "synthesis/trees/network/fabric.h"
#include "synthesis/trees/packing/packing.h"

namespace tacos::trees {

/// How many chunks of a round cross a link on their way down, and on their way up. Sums that are
/// made on arrival and results that replace what was there cannot share a transfer.
struct LinkLoad {
  std::uint32_t down = 0;
  std::uint32_t up = 0;

  friend bool operator==(const LinkLoad&, const LinkLoad&) = default;
};

/// By link; on direct links.
[[nodiscard]] std::vector<LinkLoad> link_loads(const Fabric& fabric, const Packing& packing);

/// Some chunks in as few transfers of at most `sharing` as can be, of almost equal size.
struct Shares {
  Shares(std::uint32_t chunks, std::uint32_t sharing)
      : transfers((chunks + sharing - 1) / sharing),
        least(transfers == 0 ? 0 : chunks / transfers),
        larger(transfers == 0 ? 0 : chunks % transfers) {}
  /// Of the transfer with this number.
  [[nodiscard]] std::uint32_t chunks_of(std::uint32_t transfer) const {
    return least + (transfer < larger ? 1 : 0);
  }

  std::uint32_t transfers;
  std::uint32_t least;
  /// So many carry one chunk more than the least.
  std::uint32_t larger;
};

/// How long a round keeps a link busy.
template <class Busy>
[[nodiscard]] std::int64_t busy_for(const LinkLoad& load, std::uint32_t sharing, const Busy& busy) {
  std::int64_t sum = 0;
  for (const std::uint32_t chunks : {load.down, load.up}) {
    const Shares shares(chunks, sharing);
    if (shares.transfers > shares.larger) {
      sum += std::int64_t{shares.transfers - shares.larger} * busy(shares.least);
    }
    if (shares.larger > 0) {
      sum += std::int64_t{shares.larger} * busy(shares.least + 1);
    }
  }
  return sum;
}

/// That of the busiest link.
[[nodiscard]] std::int64_t round_period(const Fabric& fabric,
                                        const HopCosts& costs,
                                        const std::vector<LinkLoad>& loads,
                                        std::uint32_t sharing);

}  // namespace tacos::trees
