// SPDX-License-Identifier: MIT
// From whom a transfer over an in-link can start now, and by which route.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synthesis/matching/ports/port_network.h"
#include "synthesis/matching/ports/speed_levels.h"

namespace tacos::matching {

/// One way into a receiver: a source and the route from it.
struct Source {
  std::uint32_t npu = 0;
  /// Of the slowest link of the route.
  std::uint32_t level = 0;
  std::uint32_t first_link = 0;
  std::uint32_t num_links = 0;
  /// Whether its neighbourhood's back-log excuses duplicates.
  bool duplicates = false;
};

/// Collects sources; through switches by a search backwards from the receiver's, each switch once,
/// so that nothing per pair of ports is stored.
class Sources {
 public:
  Sources(const PortNetwork& network,
          const SpeedLevels& levels,
          std::uint32_t num_npus,
          std::uint64_t seed)
      : network_(network),
        levels_(levels),
        num_npus_(num_npus),
        seed_(seed),
        seen_(network.num_nodes(), 0) {}

  void clear();
  /// Appends every source that can start a transfer over in-link `link` now; `free` says from when
  /// on each link is.
  void find(std::uint32_t npu,
            std::uint32_t link,
            std::int64_t now,
            std::span<const std::int64_t> free);

  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] std::span<Source> list() { return list_; }
  [[nodiscard]] std::span<const std::uint32_t> route(const Source& source) const {
    return std::span(links_).subspan(source.first_link, source.num_links);
  }

 private:
  struct Step {
    std::uint32_t link;
    std::uint32_t parent;
  };
  bool add(std::uint32_t npu,
           std::span<const std::uint32_t> route,
           std::int64_t now,
           std::span<const std::int64_t> free);

  const PortNetwork& network_;
  const SpeedLevels& levels_;
  std::uint32_t num_npus_;
  std::uint64_t seed_;
  std::vector<Source> list_;
  std::vector<std::uint32_t> links_;
  std::vector<Step> search_;
  std::vector<std::uint32_t> seen_;
  std::uint32_t mark_ = 0;
  std::vector<std::uint32_t> path_;
};

}  // namespace tacos::matching
