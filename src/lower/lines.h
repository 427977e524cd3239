// SPDX-License-Identifier: MIT
// The FIFOs between NPUs, each a channel of a pair, found as transfers need them.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tacos/ids.h"
#include "tacos/topology.h"
#include "tacos/units.h"

namespace tacos::lowering {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// One FIFO, and its lanes at both ends once they are there.
struct Line {
  NodeId src;
  NodeId dst;
  std::uint32_t channel = 0;
  std::uint32_t send_lane = kNone;
  std::uint32_t receive_lane = kNone;
  /// Messages on their way.
  std::uint32_t underway = 0;
  /// When the last of them arrives.
  Ticks last;
  /// The next channel of the pair.
  std::uint32_t next = kNone;
};

class Lines {
 public:
  explicit Lines(const Topology& topology)
      : topology_(topology), of_link_(topology.num_links(), kNone) {}

  [[nodiscard]] Line& operator[](std::uint32_t line) { return lines_[line]; }
  [[nodiscard]] const Line& operator[](std::uint32_t line) const { return lines_[line]; }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(lines_.size()); }

  /// For a message that arrives at `end`, which is noted: the first channel on which it overtakes
  /// nothing.
  [[nodiscard]] std::uint32_t take(std::span<const LinkId> route, Ticks end);
  /// Channels from one to another.
  [[nodiscard]] std::uint32_t num_channels(NodeId src, NodeId dst) const;

 private:
  [[nodiscard]] std::uint32_t first_of(std::span<const LinkId> route);
  [[nodiscard]] std::uint32_t add(NodeId src, NodeId dst, std::uint32_t channel);
  [[nodiscard]] static std::uint64_t key(NodeId src, NodeId dst) {
    return std::uint64_t{src.value()} << 32U | dst.value();
  }

  const Topology& topology_;
  std::vector<Line> lines_;
  /// By link: the first channel of the pair that it joins, once it was asked for.
  std::vector<std::uint32_t> of_link_;
  /// By source and destination, which routes through switches join too.
  std::unordered_map<std::uint64_t, std::uint32_t> of_pair_;
};

}  // namespace tacos::lowering
