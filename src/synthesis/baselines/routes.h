// SPDX-License-Identifier: MIT
// The way of a message that is sent to some NPU, neighbour or not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tacos/topology.h"

namespace tacos::baselines {

/// Shortest routes: through the fewest NPUs (only if they forward through any), of the fewest
/// links, of the least latency, in this order. Among equals messages are split evenly: each takes,
/// at every node, the link that has the least to carry so far.
///
/// O(links log nodes) for the first message to an NPU, and 24 bytes a node; then O(equals) a link.
class Routes {
 public:
  explicit Routes(const Topology& topology)
      : topology_(topology), costs_of_(topology.num_npus(), kNone), load_(topology.num_links()) {}

  /// As if nothing had been sent.
  void unload();
  /// Empty when there is none. Valid until the next call.
  std::span<const LinkId> route(NodeId src, NodeId dst, Bytes bytes);

  /// Empty when there is none, or more than one. Valid until the next call.
  std::span<const LinkId> only_route(NodeId src, NodeId dst);

  /// Of the shortest routes, which all have the same; nothing when there is none.
  [[nodiscard]] std::optional<Ticks> latency(NodeId src, NodeId dst) {
    const Cost& cost = costs_to(dst)[src.index()];
    return cost.links == kNone ? std::nullopt : std::optional(cost.latency);
  }
  /// Whether there is a route.
  [[nodiscard]] bool joins(NodeId src, NodeId dst) {
    return costs_to(dst)[src.index()].links != kNone;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Cost {
    std::uint32_t npus = kNone;
    std::uint32_t links = kNone;
    Ticks latency;

    friend auto operator<=>(const Cost&, const Cost&) = default;
  };
  /// Of a way to `dst` that begins with a link to a node.
  [[nodiscard]] Cost through(const Cost& after, NodeId node, NodeId dst, const Link& link) const;
  /// From every node to `dst`.
  std::span<const Cost> costs_to(NodeId dst);
  /// The links out of a node with which shortest routes to `dst` begin.
  std::span<const LinkId> next_links(NodeId node, NodeId dst);

  const Topology& topology_;
  /// By NPU: where its costs are, if they are known.
  std::vector<std::uint32_t> costs_of_;
  std::vector<Cost> costs_;
  /// Beside each of these, where its next links begin and how many there are, if they are known.
  struct NextLinks {
    std::uint32_t first = kNone;
    std::uint32_t count = 0;
  };
  std::vector<NextLinks> next_of_;
  std::vector<LinkId> next_links_;
  /// Picoseconds of what a link carries, and of a message of so many bytes.
  struct Load {
    double sum = 0;
    Bytes bytes;
    double each = 0;
  };
  /// By link.
  std::vector<Load> load_;
  std::vector<LinkId> links_;
};

}  // namespace tacos::baselines
