// SPDX-License-Identifier: MIT
// Unwinding, the paper's way to do without switches: port i of a switch with n ports gets links to
// the ports i+1, ..., i+d (modulo n), each with 1/d of the port's bandwidth and the latency of the
// way up and down. A port is a link into the switch and a link out of it, numbered by the order of
// the links; where some NPUs only send and others only receive (dgx2, ndv2), sender i gets links to
// the receivers i+1, ..., i+d. What is left never asks more of a port than it has, so a schedule
// for it runs on the switch. d = 1 is a ring, d = n-1 fully connected. O(links x d).
#include <algorithm>

#include <fmt/format.h>

#include "topology/generators.h"

namespace tacos {
namespace {

/// Every switch joins NPUs only, and has as many links in as out; the most ports of any.
Result<std::uint32_t> check_switches(const Topology& topology) {
  std::size_t most = 0;
  for (std::uint32_t node = topology.num_npus(); node < topology.num_nodes(); ++node) {
    const auto in = topology.in_links(NodeId(node));
    const auto out = topology.out_links(NodeId(node));
    if (in.size() != out.size()) {
      return input_error(
          fmt::format("switch {} has {} links in and {} out; unwinding needs as many",
                      node,
                      in.size(),
                      out.size()));
    }
    for (const LinkId link : in) {
      if (!topology.is_npu(topology.link(link).src)) {
        return input_error(
            fmt::format("switch {} is joined to switch {}; only networks with one level of "
                        "switches between NPUs can be unwound",
                        node,
                        topology.link(link).src.value()));
      }
    }
    most = std::max(most, in.size());
  }
  return static_cast<std::uint32_t>(most);
}

void add_unwound(const Topology& topology,
                 NodeId node,
                 std::uint32_t degree,
                 TopologyBuilder& builder) {
  const auto in = topology.in_links(node);
  const auto out = topology.out_links(node);
  const std::size_t shifts = std::min<std::size_t>(degree, std::max<std::size_t>(1, in.size()) - 1);
  for (std::size_t port = 0; port < in.size(); ++port) {
    const Link& up = topology.link(in[port]);
    for (std::size_t shift = 1; shift <= shifts; ++shift) {
      const Link& down = topology.link(out[(port + shift) % out.size()]);
      const std::int64_t least =
          std::min(up.bandwidth.bytes_per_second, down.bandwidth.bytes_per_second);
      if (up.src != down.dst) {
        builder.add_link(
            {.src = up.src,
             .dst = down.dst,
             .bandwidth = {std::max<std::int64_t>(1, least / static_cast<std::int64_t>(shifts))},
             .latency = up.latency + down.latency,
             .gap = std::max(up.gap, down.gap)});
      }
    }
  }
}

}  // namespace

Result<Topology> unwind(const Topology& topology, std::uint32_t degree) {
  if (topology.num_switches() == 0) {
    return input_error("has no switches to unwind; leave out unwind=");
  }
  const Result<std::uint32_t> ports = check_switches(topology);
  if (!ports) {
    return ports.error();
  }
  if (degree >= *ports) {
    return input_error(
        fmt::format("unwind={} is more than the {} other ports of a switch", degree, *ports - 1));
  }
  std::uint64_t links = topology.num_working_links();
  for (std::uint32_t node = topology.num_npus(); node < topology.num_nodes(); ++node) {
    links += std::uint64_t{degree} * topology.in_links(NodeId(node)).size();
  }
  if (Status fits = check_network_size(topology.num_npus(), links); !fits) {
    return fits.error();
  }
  TopologyBuilder builder(topology.name(), topology.num_npus());
  const auto names = topology.node_names().first(
      std::min<std::size_t>(topology.num_npus(), topology.node_names().size()));
  builder.set_node_names({names.begin(), names.end()});
  for (const Link& link : topology.links()) {
    if (topology.is_npu(link.src) && topology.is_npu(link.dst)) {
      builder.add_link(link);
    }
  }
  for (std::uint32_t node = topology.num_npus(); node < topology.num_nodes(); ++node) {
    add_unwound(topology, NodeId(node), degree, builder);
  }
  return std::move(builder).build();
}

}  // namespace tacos
