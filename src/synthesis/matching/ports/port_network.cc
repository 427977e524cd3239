// SPDX-License-Identifier: MIT
#include "synthesis/matching/ports/port_network.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tacos::matching {

PortNetwork::PortNetwork(
    const Topology& topology, Direction direction, Bytes chunk_bytes, LinkModel model, Pace pace)
    : num_nodes_(topology.num_nodes()) {
  links_.reserve(topology.num_working_links());
  number_.resize(topology.num_links());
  std::int64_t longest = 0;
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Link& link = topology.link(LinkId(id));
    if (topology.failed(LinkId(id))) {
      continue;
    }
    number_[id] = static_cast<std::uint32_t>(links_.size());
    const Ticks serialization = serialization_time(chunk_bytes, link.bandwidth);
    PortLink made{.id = LinkId(id),
                  .src = link.src.value(),
                  .dst = link.dst.value(),
                  .serialization = serialization.ps,
                  .latency = link.latency.ps,
                  .overhead = overhead(link, model).ps};
    made.pace = std::max<std::int64_t>(
        1, pace == Pace::kArrival ? made.time() : made.serialization + made.overhead);
    if (direction == Direction::kAgainstLinks) {
      std::swap(made.src, made.dst);
    }
    links_.push_back(made);
    longest = std::max(longest, made.latency);
  }
  // A shortest way visits each switch once.
  constexpr std::int64_t kDeepest = 8;
  max_route_latency_ = std::min(
      kMaxCrossing.ps, longest * std::min<std::int64_t>(kDeepest, topology.num_switches()));
  find_places(topology, direction);
  for (std::uint32_t node = 0; node < num_nodes_; ++node) {
    const NodeId id(node);
    for (const LinkId link :
         direction == Direction::kWithLinks ? topology.in_links(id) : topology.out_links(id)) {
      in_links_.push_back(number_[link.index()]);
    }
    in_links_.end_row();
  }
  find_latencies(topology.num_npus());
}

void PortNetwork::find_latencies(std::uint32_t num_npus) {
  for (const PortLink& link : links_) {
    std::int64_t before = 0;
    if (link.src >= num_npus) {
      for (const std::uint32_t into : in_links_[link.src]) {
        before = std::max(before,
                          links_[into].src < num_npus ? links_[into].latency : max_route_latency_);
      }
    }
    max_latency_before_.push_back(before);
  }
  for (std::uint32_t node = 0; node < num_nodes_; ++node) {
    const auto into = in_links_[node];
    is_even_.push_back(node >= num_npus &&
                       std::all_of(into.begin(), into.end(), [&](std::uint32_t link) {
                         return links_[link].src < num_npus &&
                                links_[link].latency == links_[into.front()].latency;
                       }));
  }
}

void PortNetwork::find_places(const Topology& topology, Direction direction) {
  news_place_.resize(num_nodes_);
  std::iota(news_place_.begin(), news_place_.end(), 0U);
  // Joined switches end up with the lowest id among them; networks have few levels of switches.
  for (bool changed = true; changed;) {
    changed = false;
    for (const PortLink& link : links_) {
      if (link.src < topology.num_npus() || link.dst < topology.num_npus()) {
        continue;
      }
      const std::uint32_t lowest = std::min(news_place_[link.src], news_place_[link.dst]);
      changed = changed || news_place_[link.src] != lowest || news_place_[link.dst] != lowest;
      news_place_[link.src] = lowest;
      news_place_[link.dst] = lowest;
    }
  }
  for (std::uint32_t npu = 0; npu < topology.num_npus(); ++npu) {
    const NodeId id(npu);
    places_.push_back(npu);
    for (const LinkId link :
         direction == Direction::kWithLinks ? topology.out_links(id) : topology.in_links(id)) {
      const std::uint32_t place = news_place_[this->link(link).dst];
      const auto mine = places_.open_row();
      if (place >= topology.num_npus() &&
          std::find(mine.begin(), mine.end(), place) == mine.end()) {
        places_.push_back(place);
      }
    }
    places_.end_row();
  }
}

}  // namespace tacos::matching
