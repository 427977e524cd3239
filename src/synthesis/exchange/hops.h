// SPDX-License-Identifier: MIT
// The ways from one participant to another past no NPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tacos/topology.h"
#include "tacos/units.h"

#include "base/csr.h"

namespace tacos::exchange {

/// More routes between two participants are not looked at.
inline constexpr std::size_t kMostAlternatives = 4;

/// For every two participants the shortest route that begins with each link of the first, a few of
/// them. Among routes that are equally short, each destination has its own, so that those who send
/// to different ones get into each other's way as little as can be.
///
/// O(participants x links x log nodes + participants^2 x links of a route).
class Hops {
 public:
  /// Messages are of about so many bytes.
  Hops(const Topology& topology, std::span<const NodeId> participants, Bytes message);

  [[nodiscard]] std::uint32_t size() const { return size_; }
  /// Between two participants: the numbers of their routes, the fastest first.
  [[nodiscard]] std::span<const std::uint32_t> between(std::uint32_t from, std::uint32_t to) const {
    return between_[std::size_t{from} * size_ + to];
  }
  [[nodiscard]] std::span<const LinkId> route(std::uint32_t hop) const { return routes_[hop]; }
  /// Whether all links of a route are equally fast: then times can be mirrored.
  [[nodiscard]] bool are_even() const { return are_even_; }
  /// How long a message takes by the fastest one; kMaxTime when there is none.
  [[nodiscard]] Ticks time(std::uint32_t from, std::uint32_t to) const {
    return times_[std::size_t{from} * size_ + to];
  }

 private:
  std::uint32_t size_;
  Csr<std::uint32_t> between_;
  Csr<LinkId> routes_;
  std::vector<Ticks> times_;
  bool are_even_ = true;
};

}  // namespace tacos::exchange
