// SPDX-License-Identifier: MIT
// The network as the matchers see it: in-links per NPU, times on a grid, one All-Gather to solve.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"
#include "tacos/units.h"

#include "schedule/logs/window_log.h"
#include "synthesis/common/direction.h"

namespace tacos::matching {

/// A time in units of GatherNetwork::unit().
using GridTime = std::uint64_t;
inline constexpr GridTime kNever = ~GridTime{0};

/// All chunks have one planned size, so a link has one period and one delay: both at least 1.
struct InLink {
  LinkId link;
  std::uint32_t src = 0;
  /// From the start of a transfer until the link can start the next.
  GridTime period = 0;
  /// From the start of a transfer until its chunk is there.
  GridTime delay = 0;
};

class GatherNetwork {
 public:
  /// The unit of time is the common divisor of all periods and delays.
  GatherNetwork(const Topology& topology, Direction direction, Bytes chunk_bytes, LinkModel model);

  [[nodiscard]] std::uint32_t num_npus() const { return num_npus_; }
  [[nodiscard]] std::uint32_t num_links() const {
    return static_cast<std::uint32_t>(in_links_.size());
  }
  /// Those of failed links included.
  [[nodiscard]] std::uint32_t num_link_ids() const { return num_link_ids_; }
  [[nodiscard]] std::span<const InLink> in_links() const { return in_links_; }
  /// Positions in in_links() of the links into an NPU.
  [[nodiscard]] std::uint32_t first_in(std::uint32_t npu) const { return first_in_[npu]; }
  [[nodiscard]] std::uint32_t end_in(std::uint32_t npu) const { return first_in_[npu + 1]; }
  [[nodiscard]] std::uint32_t max_in_degree() const;
  [[nodiscard]] std::uint32_t min_in_degree() const;

  /// Whether every transfer takes exactly one unit, so that time is a step number.
  [[nodiscard]] bool uniform() const { return max_delay_ == 1 && max_period_ == 1; }
  [[nodiscard]] GridTime min_delay() const { return min_delay_; }
  [[nodiscard]] GridTime max_delay() const { return max_delay_; }
  [[nodiscard]] Ticks unit() const { return unit_; }
  [[nodiscard]] Ticks time(GridTime grid) const { return unit_ * static_cast<std::int64_t>(grid); }
  /// Times stay below this, so that adding a delay leaves them in the range of Ticks.
  [[nodiscard]] GridTime end_of_time() const;

 private:
  std::uint32_t num_npus_;
  std::uint32_t num_link_ids_;
  std::vector<std::uint32_t> first_in_;
  std::vector<InLink> in_links_;
  Ticks unit_{1};
  GridTime min_delay_ = 1;
  GridTime max_delay_ = 1;
  GridTime max_period_ = 1;
};

/// Links have few different times; in order.
[[nodiscard]] std::vector<LinkTimes> different_times(std::span<const InLink> links);

/// As the logs of arrivals have them.
[[nodiscard]] InLinks in_links_of(const GatherNetwork& network);

}  // namespace tacos::matching
