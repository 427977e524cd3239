// SPDX-License-Identifier: MIT
#include "tacos/topology.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/numbers/wide.h"
#include "base/text/printable.h"
#include "topology/generators.h"

namespace tacos {
namespace {

/// Counting sort of the links that work by one of their ends: O(nodes + links).
template <class End>
void index_by(std::span<const Link> links,
              const std::vector<bool>& failed,
              std::uint32_t num_nodes,
              End end,
              std::vector<std::uint32_t>& first,
              std::vector<LinkId>& sorted) {
  first.assign(num_nodes + std::size_t{1}, 0);
  for (const Link& link : WorkingLinks(links, failed)) {
    ++first[end(link).index() + 1];
  }
  for (std::size_t node = 0; node < num_nodes; ++node) {
    first[node + 1] += first[node];
  }
  sorted.resize(first.back());
  std::vector<std::uint32_t> next(first.begin(), first.end() - 1);
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (failed.empty() || !failed[i]) {
      sorted[next[end(links[i]).index()]++] = LinkId(static_cast<std::uint32_t>(i));
    }
  }
}

Status check_link(const Link& link, std::uint64_t nodes) {
  for (const NodeId end : {link.src, link.dst}) {
    if (end.value() >= nodes) {
      return input_error(
          fmt::format("node {} does not exist; nodes are 0 to {}", end.value(), nodes - 1));
    }
  }
  if (link.src == link.dst) {
    return input_error(fmt::format("joins node {} to itself", link.src.value()));
  }
  const std::int64_t speed = link.bandwidth.bytes_per_second;
  if (speed <= 0 || speed > kMaxBytesPerSecond) {
    return input_error(fmt::format(
        "bandwidth of {} bytes per second is out of range; it must be from 1 to 1e18", speed));
  }
  if (link.latency.ps < 0 || link.latency >= kMaxTime) {
    return input_error(fmt::format("latency of {} ps is out of range", link.latency.ps));
  }
  if (link.gap.ps < 0 || link.gap >= kMaxTime) {
    return input_error(fmt::format("gap of {} ps is out of range", link.gap.ps));
  }
  return ok();
}

Status check_names(std::span<const std::string> names, std::uint64_t nodes) {
  if (names.empty()) {
    return ok();
  }
  if (names.size() != nodes) {
    return input_error(fmt::format("there are {} names for {} nodes", names.size(), nodes));
  }
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front().empty()) {
    return input_error("a name is empty");
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  return twice == sorted.end()
             ? ok()
             : Status(input_error(fmt::format("two nodes are called '{}'", *twice)));
}

}  // namespace

void Topology::index_links() {
  const auto src = [](const Link& link) { return link.src; };
  const auto dst = [](const Link& link) { return link.dst; };
  index_by(links_, failed_, num_nodes(), src, out_.first, out_.links);
  index_by(links_, failed_, num_nodes(), dst, in_.first, in_.links);
}

Topology Topology::reversed() const {
  Topology turned = *this;
  for (Link& link : turned.links_) {
    std::swap(link.src, link.dst);
  }
  std::swap(turned.in_, turned.out_);
  turned.dimensions_.clear();
  return turned;
}

Topology Topology::with_forwarding(bool npus_forward) const {
  Topology other = *this;
  other.npus_forward_ = npus_forward;
  return other;
}

TopologyBuilder::TopologyBuilder(std::string name,
                                 std::uint32_t num_npus,
                                 std::uint32_t num_switches) {
  topology_.name_ = std::move(name);
  topology_.num_npus_ = num_npus;
  topology_.num_switches_ = num_switches;
}

void TopologyBuilder::set_node_names(std::vector<std::string> names) {
  // As files say them: what is not text would come back as something else.
  std::transform(names.begin(), names.end(), names.begin(), utf8);
  topology_.node_names_ = std::move(names);
}

TopologyBuilder& TopologyBuilder::add_link(Link link) {
  topology_.links_.push_back(link);
  return *this;
}

TopologyBuilder& TopologyBuilder::add_failed_link(Link link) {
  topology_.links_.push_back(link);
  topology_.failed_.resize(topology_.links_.size(), false);
  topology_.failed_.back() = true;
  return *this;
}

TopologyBuilder& TopologyBuilder::add_both(Link link) {
  add_link(link);
  std::swap(link.src, link.dst);
  return add_link(link);
}

Result<Topology> TopologyBuilder::build() && {
  const auto nodes = std::uint64_t{topology_.num_npus_} + topology_.num_switches_;
  if (topology_.num_npus_ == 0) {
    return input_error("a network needs at least one NPU");
  }
  if (Status fits = check_counts(nodes, topology_.links_.size()); !fits) {
    return fits.error();
  }
  for (std::size_t i = 0; i < topology_.links_.size(); ++i) {
    if (Status checked = check_link(topology_.links_[i], nodes); !checked) {
      return input_error(checked.error().message, fmt::format("links[{}]", i));
    }
  }
  if (Status named = check_names(topology_.node_names_, nodes); !named) {
    return input_error(named.error().message, "node_names");
  }
  if (!topology_.failed_.empty()) {
    topology_.failed_.resize(topology_.links_.size(), false);
  }
  topology_.index_links();
  return std::move(topology_);
}

std::string_view to_string(LinkModel model) {
  return model == LinkModel::kHold ? "hold" : "pipelined";
}

Ticks serialization_time(Bytes bytes, Bandwidth bandwidth) {
  constexpr auto kPs = static_cast<std::uint64_t>(kPsPerSecond);
  // Up to so many bytes, at up to such a speed, 64 bits have room for all of it.
  constexpr std::int64_t kFewBytes = 16'000'000;
  constexpr std::int64_t kFewPerSecond = 2'000'000'000'000'000'000;
  const auto capped = [](auto ps) {
    return ps > static_cast<std::uint64_t>(kMaxTime.ps) ? kMaxTime
                                                        : Ticks{static_cast<std::int64_t>(ps)};
  };
  const auto speed = static_cast<std::uint64_t>(bandwidth.bytes_per_second);
  if (bytes.count <= kFewBytes && bandwidth.bytes_per_second <= kFewPerSecond) {
    return capped((static_cast<std::uint64_t>(bytes.count) * kPs + speed - 1) / speed);
  }
  return capped((static_cast<UInt128>(bytes.count) * kPs + speed - 1) / speed);
}

LinkCost link_cost(const Link& link, Bytes bytes, LinkModel model) {
  const Ticks serialization = serialization_time(bytes, link.bandwidth);
  const Ticks arrival = std::min(kMaxTime, serialization + link.latency);
  return {std::min(kMaxTime, serialization + overhead(link, model)), arrival};
}

Ticks route_time(const Topology& topology, std::span<const LinkId> links, Bytes bytes) {
  Ticks latency;
  Ticks serialization;
  for (const LinkId id : links) {
    const Link& link = topology.link(id);
    latency += link.latency;
    serialization = std::max(serialization, serialization_time(bytes, link.bandwidth));
  }
  return std::min(kMaxTime, latency + serialization);
}

std::vector<LinkId> twin_links(const Topology& topology) {
  // Sorted by (lower end, higher end, speed, latency, gap, direction), twins are the k-th forward
  // and the k-th backward link of a run of equal ones.
  const auto key = [&](std::uint32_t number) {
    const Link& link = topology.link(LinkId(number));
    return std::tuple(std::min(link.src, link.dst),
                      std::max(link.src, link.dst),
                      link.bandwidth.bytes_per_second,
                      link.latency.ps,
                      link.gap.ps);
  };
  const auto forward = [&](std::uint32_t number) {
    const Link& link = topology.link(LinkId(number));
    return link.src < link.dst;
  };
  std::vector<std::uint32_t> order(topology.num_links());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](std::uint32_t number) { return topology.failed(LinkId(number)); });
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tuple(key(a), !forward(a), a) < std::tuple(key(b), !forward(b), b);
  });
  std::vector<LinkId> twins(topology.num_links());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    std::size_t forwards = 0;
    while (end < order.size() && key(order[end]) == key(order[begin])) {
      forwards += forward(order[end++]) ? 1 : 0;
    }
    if (2 * forwards != end - begin) {
      return {};
    }
    for (std::size_t i = 0; i < forwards; ++i) {
      twins[order[begin + i]] = LinkId(order[begin + forwards + i]);
      twins[order[begin + forwards + i]] = LinkId(order[begin + i]);
    }
    begin = end;
  }
  return twins;
}

}  // namespace tacos
