// SPDX-License-Identifier: MIT
// What messages of some equal parts cost the links of a network, looked up rather than divided.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"
#include "tacos/units.h"

namespace tacos::exchange {

/// In plain picoseconds: whoever adds them up sees to it that they stay below kMaxTime.
class Costs {
 public:
  Costs(const Topology& topology, Bytes part, std::uint32_t most_parts, LinkModel model)
      : most_parts_(most_parts) {
    std::vector<Bandwidth> speeds;
    for (const Link& link : topology.all_links()) {
      const auto found = std::find(speeds.begin(), speeds.end(), link.bandwidth);
      speed_.push_back(static_cast<std::uint32_t>(found - speeds.begin()));
      if (found == speeds.end()) {
        speeds.push_back(link.bandwidth);
        for (std::uint32_t parts = 0; parts <= most_parts; ++parts) {
          taken_.push_back(serialization_time({part.count * parts}, link.bandwidth).ps);
        }
      }
      latency_.push_back(link.latency.ps);
      overhead_.push_back(overhead(link, model).ps);
    }
  }

  [[nodiscard]] std::size_t num_links() const { return latency_.size(); }
  [[nodiscard]] std::int64_t latency(LinkId link) const { return latency_[link.index()]; }
  /// What the bytes of a message take.
  [[nodiscard]] std::int64_t bytes(LinkId link, std::uint32_t parts) const {
    return taken_[std::size_t{speed_[link.index()]} * (most_parts_ + 1) + parts];
  }
  /// For how long a message keeps the link busy.
  [[nodiscard]] std::int64_t busy(LinkId link, std::uint32_t parts) const {
    return overhead_[link.index()] + bytes(link, parts);
  }
  /// From the start of a message to its arrival.
  [[nodiscard]] std::int64_t crossing(std::span<const LinkId> route, std::uint32_t parts) const {
    std::int64_t latencies = 0;
    std::int64_t slowest = 0;
    for (const LinkId link : route) {
      latencies += latency(link);
      slowest = std::max(slowest, bytes(link, parts));
    }
    return latencies + slowest;
  }

 private:
  std::uint32_t most_parts_;
  // By link.
  std::vector<std::int64_t> latency_;
  std::vector<std::int64_t> overhead_;
  std::vector<std::uint32_t> speed_;
  /// By speed and number of parts.
  std::vector<std::int64_t> taken_;
};

/// When links are free, as messages take them one after the other.
class LinkTimes {
 public:
  explicit LinkTimes(const Costs& costs) : costs_(costs), free_(costs.num_links(), 0) {}

  void clear() { std::fill(free_.begin(), free_.end(), 0); }
  /// When a message that could start at `ready` finds all links of its route free.
  [[nodiscard]] std::int64_t start(std::span<const LinkId> route, std::int64_t ready) const {
    std::int64_t head = 0;
    for (const LinkId link : route) {
      ready = std::max(ready, free_[link.index()] - head);
      head += costs_.latency(link);
    }
    return ready;
  }
  void take(std::span<const LinkId> route, std::int64_t start, std::uint32_t parts) {
    for (const LinkId link : route) {
      free_[link.index()] = start + costs_.busy(link, parts);
      start += costs_.latency(link);
    }
  }

 private:
  const Costs& costs_;
  std::vector<std::int64_t> free_;
};

}  // namespace tacos::exchange
