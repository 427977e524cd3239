// SPDX-License-Identifier: MIT
#include "synthesis/trees/network/fabric.h"

#include <algorithm>

#include <fmt/format.h>

#include "tacos/collective.h"

namespace tacos::trees {

Result<Fabric> Fabric::make(const Topology& topology, const Job& job) {
  Fabric fabric;
  fabric.num_nodes_ = topology.num_npus();
  fabric.num_links_ = topology.num_links();
  fabric.direct_ = topology.num_switches() == 0;
  fabric.twin_link_ = twin_links(topology);
  for (const Route& route : find_routes(topology, fabric.twin_link_)) {
    fabric.add(route);
  }
  fabric.index();
  for (const bool backwards : {false, true}) {
    const bool needed = job.everyones_own || (backwards ? job.goes_up() : job.goes_down());
    const std::uint32_t node = needed ? fabric.unreached(job, backwards) : kNone;
    if (node != kNone) {
      return input_error(fmt::format("engine 'trees' finds no way {} NPU {}; use another engine",
                                     backwards ? "from" : "to",
                                     node));
    }
  }
  return fabric;
}

void Fabric::add(const Route& route) {
  const std::uint32_t number = num_hops();
  const bool new_outlet = number == 0 || links(number - 1).front() != route.links.front();
  if (new_outlet) {
    first_hop_.push_back(number);
  }
  source_.push_back(route.source);
  target_.push_back(route.target);
  twin_.push_back(route.twin);
  outlet_.push_back(static_cast<std::uint32_t>(first_hop_.size() - 1));
  links_.insert(links_.end(), route.links.begin(), route.links.end());
  first_place_.push_back(static_cast<std::uint32_t>(links_.size()));
  switched_ = switched_ && route.links.size() > 1;
}

void Fabric::index() {
  first_hop_.push_back(num_hops());
  const auto by = [&](std::span<const std::uint32_t> node) {
    return [this, node](const auto& add) {
      for (std::uint32_t hop = 0; hop < num_hops(); ++hop) {
        add(node[hop], hop);
      }
    };
  };
  out_ = {num_nodes_, by(source_)};
  in_ = {num_nodes_, by(target_)};
  through_ = {num_links_, [&](const auto& add) {
                for (std::uint32_t hop = 0; hop < num_hops(); ++hop) {
                  for (const LinkId link : links(hop)) {
                    add(link.value(), hop);
                  }
                }
              }};
  if (direct_) {
    return;
  }
  outlets_of_ = {num_links_, [&](const auto& add) {
                   for (std::uint32_t link = 0; link < num_links_; ++link) {
                     // Hops of one outlet are neighbours.
                     std::uint32_t last = kNone;
                     for (const std::uint32_t hop : through(link)) {
                       if (outlet(hop) != last) {
                         last = outlet(hop);
                         add(link, last);
                       }
                     }
                   }
                 }};
}

std::uint32_t Fabric::unreached(const Job& job, bool backwards) const {
  std::vector<bool> seen(num_nodes_, false);
  std::vector<std::uint32_t> queue{job.root == kNone ? job.participants.front() : job.root};
  seen[queue[0]] = true;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::uint32_t node = queue[next];
    for (const std::uint32_t hop : backwards ? into(node) : out_of(node)) {
      const std::uint32_t other = backwards ? source_[hop] : target_[hop];
      if (!seen[other]) {
        seen[other] = true;
        queue.push_back(other);
      }
    }
  }
  const auto missing = std::find_if(job.participants.begin(),
                                    job.participants.end(),
                                    [&](std::uint32_t npu) { return !seen[npu]; });
  return missing == job.participants.end() ? kNone : *missing;
}

HopCosts::HopCosts(const Topology& topology, const Fabric& fabric, Bytes bytes, LinkModel model)
    : topology_(topology), fabric_(fabric), bytes_(bytes), model_(model) {
  busy_.reserve(fabric.num_links());
  for (const Link& link : topology.all_links()) {
    // A busy time of zero would let one instant carry any number of transfers.
    busy_.push_back(std::max<std::int64_t>(1, link_cost(link, bytes, model).busy.ps));
  }
  arrival_.reserve(fabric.num_hops());
  for (std::uint32_t hop = 0; hop < fabric.num_hops(); ++hop) {
    Bandwidth slowest = topology.link(fabric.links(hop)[0]).bandwidth;
    std::int64_t latency = 0;
    for (const LinkId id : fabric.links(hop)) {
      head_start_.push_back(latency);
      latency += topology.link(id).latency.ps;
      slowest = std::min(slowest, topology.link(id).bandwidth);
    }
    bandwidth_.push_back(slowest.bytes_per_second);
    arrival_.push_back(std::max<std::int64_t>(1, latency + serialization_time(bytes, slowest).ps));
  }
}

/// More than the largest buffer there is are never sent together.
Bytes HopCosts::bytes_of(std::uint32_t count) const {
  return {bytes_.count > kMaxSizeBytes / count ? kMaxSizeBytes : bytes_.count * count};
}

std::int64_t HopCosts::arrival_of(std::uint32_t hop, std::uint32_t count) const {
  const LinkId last = fabric_.links(hop).back();
  return head_start_[fabric_.first_place(hop + 1) - 1] + topology_.link(last).latency.ps +
         serialization_time(bytes_of(count), {bandwidth_[hop]}).ps;
}

std::int64_t HopCosts::free_after(std::uint32_t hop, std::uint32_t n, std::uint32_t count) const {
  const Link& link = topology_.link(fabric_.links(hop)[n]);
  return head_start_[fabric_.first_place(hop) + n] +
         link_cost(link, bytes_of(count), model_).busy.ps;
}

}  // namespace tacos::trees
