// SPDX-License-Identifier: MIT
#include "synthesis/trees/fabric.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

namespace tacos::trees {
namespace {

/// Counting sort of channels by one of their ends.
void index_by(std::span<const std::uint32_t> end,
              std::uint32_t num_nodes,
              std::vector<std::uint32_t>& first,
              std::vector<std::uint32_t>& sorted) {
  first.assign(num_nodes + std::size_t{1}, 0);
  for (const std::uint32_t node : end) {
    ++first[node + 1];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  sorted.resize(end.size());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::uint32_t channel = 0; channel < end.size(); ++channel) {
    sorted[next[end[channel]]++] = channel;
  }
}

}  // namespace

Result<Fabric> Fabric::make(const Topology& topology) {
  Fabric fabric;
  fabric.num_nodes_ = topology.num_npus();
  for (std::uint32_t i = 0; i < topology.num_links(); ++i) {
    const Link& link = topology.link(LinkId(i));
    if (topology.is_npu(link.src) && topology.is_npu(link.dst)) {
      fabric.source_.push_back(link.src.value());
      fabric.target_.push_back(link.dst.value());
      fabric.link_.emplace_back(i);
    }
  }
  fabric.index();
  for (const bool backwards : {false, true}) {
    if (const std::uint32_t node = fabric.unreached(backwards); node != kNone) {
      return input_error(
          fmt::format("engine 'trees' uses direct links between NPUs only, and over those NPU {} "
                      "cannot {} NPU 0; use another engine",
                      node,
                      backwards ? "reach" : "be reached from"));
    }
  }
  fabric.pair_twins(topology);
  return fabric;
}

void Fabric::index() {
  index_by(source_, num_nodes_, out_first_, out_);
  index_by(target_, num_nodes_, in_first_, in_);
}

void Fabric::pair_twins(const Topology& topology) {
  // Sorted by (lower end, higher end, speed, latency, direction), twins are the k-th forward and
  // the k-th backward channel of a run of equal ones.
  const auto key = [&](std::uint32_t channel) {
    const Link& link = topology.link(link_[channel]);
    return std::tuple(std::min(source_[channel], target_[channel]),
                      std::max(source_[channel], target_[channel]),
                      link.bandwidth.bytes_per_second,
                      link.latency.ps);
  };
  const auto forward = [&](std::uint32_t channel) { return source_[channel] < target_[channel]; };
  std::vector<std::uint32_t> order(num_channels());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(key(a), !forward(a), a) < std::tuple(key(b), !forward(b), b);
  });
  twin_.assign(num_channels(), kNone);
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    std::size_t forwards = 0;
    while (end < order.size() && key(order[end]) == key(order[begin])) {
      forwards += forward(order[end++]) ? 1 : 0;
    }
    if (2 * forwards != end - begin) {
      twin_.clear();
      return;
    }
    for (std::size_t i = 0; i < forwards; ++i) {
      twin_[order[begin + i]] = order[begin + forwards + i];
      twin_[order[begin + forwards + i]] = order[begin + i];
    }
    begin = end;
  }
  symmetric_ = true;
}

std::uint32_t Fabric::unreached(bool backwards) const {
  std::vector<bool> seen(num_nodes_, false);
  std::vector<std::uint32_t> queue{0};
  seen[0] = true;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    const std::uint32_t node = queue[next];
    for (const std::uint32_t channel : backwards ? into(node) : out_of(node)) {
      const std::uint32_t other = backwards ? source_[channel] : target_[channel];
      if (!seen[other]) {
        seen[other] = true;
        queue.push_back(other);
      }
    }
  }
  const auto missing = std::find(seen.begin(), seen.end(), false);
  return missing == seen.end() ? kNone : static_cast<std::uint32_t>(missing - seen.begin());
}

ChannelCosts::ChannelCosts(const Topology& topology,
                           const Fabric& fabric,
                           Bytes bytes,
                           LinkModel model)
    : bytes_(bytes), model_(model) {
  for (std::uint32_t channel = 0; channel < fabric.num_channels(); ++channel) {
    links_.push_back(topology.link(fabric.link(channel)));
    const LinkCost cost = link_cost(links_.back(), bytes, model);
    // A busy time of zero would let one instant carry any number of transfers.
    busy_.push_back(std::max<std::int64_t>(1, cost.busy.ps));
    arrival_.push_back(std::max<std::int64_t>(1, cost.arrival.ps));
  }
}

LinkCost ChannelCosts::of(std::uint32_t channel, std::uint32_t count) const {
  return link_cost(links_[channel], {bytes_.count * count}, model_);
}

}  // namespace tacos::trees
