// SPDX-License-Identifier: MIT
// Trees of switches with several roots. Of each level, `lat` is from below up to a switch and down
// again, half on either link, so that NPUs of two pods are the latencies of all levels apart.
//
// Leaf-spine: NPU n of leaf l has id n + N*l; every leaf has one link each way to every spine, so
// the leaves are oversubscribed N*bw(NPU) to S*bw(spine).
//
// Fat-tree of K-port switches (Al-Fares et al., SIGCOMM 2008): K pods of K/2 edge and K/2
// aggregation switches, K/2 NPUs on an edge switch. Within a pod every edge switch is joined to
// every aggregation switch; aggregation switch a of each pod to the cores a*K/2 .. a*K/2 + K/2-1.
// With equal links it has full bisection bandwidth; slower links further up oversubscribe it.
//
// NPUs come first, then the switches level by level. Links come level by level from below, each
// with its twin.
#include <fmt/format.h>

#include "topology/generators.h"

namespace tacos {
namespace {

/// The two links between a node and a switch above it.
void add_uplink(std::uint64_t below,
                std::uint64_t above,
                const Dimension& level,
                TopologyBuilder& builder) {
  const Ticks down{level.latency.ps / 2};
  Link link{.src = NodeId(static_cast<std::uint32_t>(below)),
            .dst = NodeId(static_cast<std::uint32_t>(above)),
            .bandwidth = level.bandwidth,
            .latency = level.latency - down,
            .gap = level.gap};
  builder.add_link(link);
  std::swap(link.src, link.dst);
  link.latency = down;
  builder.add_link(link);
}

}  // namespace

Result<Topology> make_leaf_spine(std::string name,
                                 std::uint32_t spines,
                                 const std::vector<Dimension>& levels) {
  const std::uint64_t per_leaf = levels[0].length;
  const std::uint64_t leaves = levels[1].length;
  const std::uint64_t npus = per_leaf * leaves;
  const std::uint64_t uplinks = leaves * spines;
  if (Status fits = check_network_size(npus + leaves + spines, 2 * (npus + uplinks)); !fits) {
    return fits.error();
  }
  TopologyBuilder builder(std::move(name),
                          static_cast<std::uint32_t>(npus),
                          static_cast<std::uint32_t>(leaves + spines));
  builder.reserve_links(2 * (npus + uplinks));
  for (std::uint64_t npu = 0; npu < npus; ++npu) {
    add_uplink(npu, npus + npu / per_leaf, levels[0], builder);
  }
  for (std::uint64_t leaf = 0; leaf < leaves; ++leaf) {
    for (std::uint64_t spine = 0; spine < spines; ++spine) {
      add_uplink(npus + leaf, npus + leaves + spine, levels[1], builder);
    }
  }
  return std::move(builder).build();
}

Result<Topology> make_fat_tree(std::string name,
                               std::uint32_t ports,
                               const std::vector<Dimension>& levels) {
  const std::uint64_t half = ports / 2;
  // 64 bits hold the cube of whatever passes.
  constexpr std::uint32_t kMostPorts = 1U << 20U;
  if (ports % 2 != 0 || ports > kMostPorts) {
    return input_error(fmt::format(
        "a fat-tree of {}-port switches does not exist; use an even number, such as fat-tree:4",
        ports));
  }
  const std::uint64_t npus = half * half * ports;
  const std::uint64_t per_level = half * ports;
  const std::uint64_t switches = 2 * per_level + half * half;
  if (Status fits = check_network_size(npus + switches, 6 * npus); !fits) {
    return fits.error();
  }
  const std::uint64_t first_edge = npus;
  const std::uint64_t first_aggregation = first_edge + per_level;
  const std::uint64_t first_core = first_aggregation + per_level;
  TopologyBuilder builder(
      std::move(name), static_cast<std::uint32_t>(npus), static_cast<std::uint32_t>(switches));
  builder.reserve_links(6 * npus);
  for (std::uint64_t npu = 0; npu < npus; ++npu) {
    add_uplink(npu, first_edge + npu / half, levels[0], builder);
  }
  for (std::uint64_t edge = 0; edge < per_level; ++edge) {
    for (std::uint64_t up = 0; up < half; ++up) {
      add_uplink(
          first_edge + edge, first_aggregation + edge / half * half + up, levels[1], builder);
    }
  }
  for (std::uint64_t aggregation = 0; aggregation < per_level; ++aggregation) {
    for (std::uint64_t up = 0; up < half; ++up) {
      add_uplink(first_aggregation + aggregation,
                 first_core + aggregation % half * half + up,
                 levels[2],
                 builder);
    }
  }
  return std::move(builder).build();
}

}  // namespace tacos
