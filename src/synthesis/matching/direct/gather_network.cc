// SPDX-License-Identifier: MIT
#include "synthesis/matching/direct/gather_network.h"

#include <algorithm>
#include <numeric>

namespace tacos::matching {

GatherNetwork::GatherNetwork(const Topology& topology,
                             Direction direction,
                             Bytes chunk_bytes,
                             LinkModel model)
    : num_npus_(topology.num_npus()), num_link_ids_(topology.num_links()) {
  std::vector<LinkCost> costs;
  costs.reserve(topology.num_links());
  std::int64_t divisor = 0;
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const LinkCost cost = link_cost(topology.link(LinkId(id)), chunk_bytes, model);
    // A transfer of nothing over a link without latency would take no time, and time stand still.
    costs.push_back({std::max(Ticks{1}, cost.busy), std::max(Ticks{1}, cost.arrival)});
    if (!topology.failed(LinkId(id))) {
      divisor = std::gcd(divisor, std::gcd(costs.back().busy.ps, costs.back().arrival.ps));
    }
  }
  unit_ = Ticks{std::max<std::int64_t>(1, divisor)};
  first_in_.push_back(0);
  max_delay_ = 0;
  min_delay_ = kNever;
  for (std::uint32_t npu = 0; npu < num_npus_; ++npu) {
    const NodeId node(npu);
    const bool with = direction == Direction::kWithLinks;
    for (const LinkId id : with ? topology.in_links(node) : topology.out_links(node)) {
      const Link& link = topology.link(id);
      const LinkCost& cost = costs[id.index()];
      in_links_.push_back({.link = id,
                           .src = (with ? link.src : link.dst).value(),
                           .period = static_cast<GridTime>(cost.busy.ps / unit_.ps),
                           .delay = static_cast<GridTime>(cost.arrival.ps / unit_.ps)});
      min_delay_ = std::min(min_delay_, in_links_.back().delay);
      max_delay_ = std::max(max_delay_, in_links_.back().delay);
      max_period_ = std::max(max_period_, in_links_.back().period);
    }
    first_in_.push_back(static_cast<std::uint32_t>(in_links_.size()));
  }
}

GridTime GatherNetwork::end_of_time() const {
  return static_cast<GridTime>(kMaxTime.ps / unit_.ps) -
         std::min(max_delay_, static_cast<GridTime>(kMaxTime.ps / unit_.ps));
}

std::uint32_t GatherNetwork::min_in_degree() const {
  std::uint32_t least = num_links();
  for (std::uint32_t npu = 0; npu < num_npus_; ++npu) {
    least = std::min(least, end_in(npu) - first_in(npu));
  }
  return least;
}

std::uint32_t GatherNetwork::max_in_degree() const {
  std::uint32_t most = 0;
  for (std::uint32_t npu = 0; npu < num_npus_; ++npu) {
    most = std::max(most, end_in(npu) - first_in(npu));
  }
  return most;
}

std::vector<LinkTimes> different_times(std::span<const InLink> links) {
  std::vector<LinkTimes> times;
  for (const InLink& link : links) {
    times.push_back({.period = link.period, .delay = link.delay});
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

InLinks in_links_of(const GatherNetwork& network) {
  InLinks in_links{.first = {}, .links = {}, .times = {}, .num_ids = network.num_link_ids()};
  for (std::uint32_t npu = 0; npu < network.num_npus(); ++npu) {
    in_links.first.push_back(network.first_in(npu));
  }
  in_links.first.push_back(network.num_links());
  for (const InLink& link : network.in_links()) {
    in_links.links.push_back(link.link);
    if (!network.uniform()) {
      in_links.times.push_back({.period = link.period, .delay = link.delay});
    }
  }
  return in_links;
}

}  // namespace tacos::matching
