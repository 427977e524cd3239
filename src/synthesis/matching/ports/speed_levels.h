// SPDX-License-Identifier: MIT
// Links sorted into levels of speed, and for each level the neighbourhoods that faster links make.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/ids.h"

namespace tacos::matching {

/// What makes a link fast or slow for a chunk. Under `hold` both are the same.
enum class Pace {
  kArrival,  ///< how soon it arrives: where latency is most of that, links are alike
  kBusy,     ///< how soon the link can take the next
};

/// A link as the port matcher sees it: times for one chunk, in picoseconds.
struct PortLink {
  LinkId id;
  std::uint32_t src = 0;
  std::uint32_t dst = 0;
  std::int64_t serialization = 0;
  std::int64_t latency = 0;
  /// For how long a transfer keeps it busy beyond its bytes.
  std::int64_t overhead = 0;
  /// What makes it fast or slow (Pace); at least 1.
  std::int64_t pace = 0;

  [[nodiscard]] std::int64_t time() const { return serialization + latency; }
};

/// Level 0 is the fastest; a level spans a factor of 1.3 in pace.
class SpeedLevels {
 public:
  SpeedLevels(std::span<const PortLink> links, std::uint32_t num_nodes);

  [[nodiscard]] std::uint32_t num_levels() const { return num_levels_; }
  [[nodiscard]] std::uint32_t level(std::uint32_t link) const { return level_[link]; }
  /// The strongly connected component of a node under links faster than a level. It must be strong:
  /// with weak components asymmetric networks deadlock.
  [[nodiscard]] std::uint32_t component(std::uint32_t level, std::uint32_t node) const {
    return component_[std::size_t{level} * num_nodes_ + node];
  }

  friend bool operator==(const SpeedLevels&, const SpeedLevels&) = default;

 private:
  std::uint32_t num_nodes_;
  std::uint32_t num_levels_ = 0;
  std::vector<std::uint32_t> level_;
  std::vector<std::uint32_t> component_;
};

}  // namespace tacos::matching
