// SPDX-License-Identifier: MIT
#include "cli/measured_network.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/numbers/median.h"
#include "base/text/quantity.h"

namespace tacos::cli {
namespace {

using execution::WireSpeed;

constexpr double kTenth = 0.9;
constexpr double kPsInSecond = 1e12;

Bandwidth to_bandwidth(double bytes_per_second) {
  return {std::clamp<std::int64_t>(std::llround(bytes_per_second), 1, kMaxBytesPerSecond)};
}
Ticks to_ticks(double seconds) {
  return {std::max<std::int64_t>(0, std::llround(seconds * kPsInSecond))};
}

/// The NPU after this one, in a circle, that the switch leads to, and by which link.
std::optional<LinkId> next_port(const Topology& topology, NodeId here, NodeId through) {
  std::optional<LinkId> best;
  const std::uint32_t npus = topology.num_npus();
  const auto distance = [&](LinkId link) {
    return (topology.link(link).dst.value() + npus - here.value()) % npus;
  };
  for (const LinkId link : topology.out_links(through)) {
    const NodeId there = topology.link(link).dst;
    if (topology.is_npu(there) && there != here && !topology.failed(link) &&
        (!best || distance(link) < distance(*best))) {
      best = link;
    }
  }
  return best;
}

/// Links that were said to be alike, and what was found of them.
class Peers {
 public:
  void add(const Link& link, const WireSpeed& speed) { kinds_[kind(link)].push_back(speed); }
  /// The middle of those that are like a link, each number by itself.
  [[nodiscard]] WireSpeed middle(const Link& link) const {
    const std::vector<WireSpeed>& speeds = kinds_.at(kind(link));
    const auto middle_of = [&speeds](double WireSpeed::*number) {
      std::vector<double> numbers(speeds.size());
      std::transform(speeds.begin(), speeds.end(), numbers.begin(), [number](const WireSpeed& one) {
        return one.*number;
      });
      return median(std::move(numbers));
    };
    return {.latency = middle_of(&WireSpeed::latency),
            .bandwidth = middle_of(&WireSpeed::bandwidth),
            .gap = middle_of(&WireSpeed::gap)};
  }

 private:
  using Said = std::tuple<Bandwidth, Ticks, Ticks>;
  static Said kind(const Link& link) { return {link.bandwidth, link.latency, link.gap}; }

  std::map<Said, std::vector<WireSpeed>> kinds_;
};

/// The middle of some pairs.
struct Kind {
  std::vector<double> bandwidth;
  std::vector<double> latency;

  void add(const WireSpeed& speed) {
    bandwidth.push_back(speed.bandwidth);
    latency.push_back(speed.latency);
  }
  /// Pairs that are near the middle.
  [[nodiscard]] std::size_t alike() const {
    if (bandwidth.empty()) {
      return 0;
    }
    const double middle = median(bandwidth);
    return static_cast<std::size_t>(
        std::count_if(bandwidth.begin(), bandwidth.end(), [&](double one) {
          return std::abs(one - middle) <= (1 - kTenth) * middle;
        }));
  }
};

/// What all pairs say.
class Evidence {
 public:
  Evidence(std::uint32_t processes,
           const std::vector<ProbedWire>& wires,
           const std::vector<WireSpeed>& speeds)
      : processes_(processes), wires_(wires), speeds_(speeds), box_(processes) {
    // Pairs that have less than this of the fastest are of another kind.
    constexpr double kKind = 0.6;
    const auto fastest =
        std::max_element(speeds.begin(), speeds.end(), [](const auto& a, const auto& b) {
          return a.bandwidth < b.bandwidth;
        });
    find_boxes(kKind * fastest->bandwidth);
    for (std::size_t w = 0; w < wires.size(); ++w) {
      (box_[wires[w].wire.from] == box_[wires[w].wire.to] ? inside_ : between_).add(speeds[w]);
    }
    if (inside_.bandwidth.empty()) {
      std::swap(inside_, between_);
    }
  }

  /// What a process sends to all at once, beside what it sends to one.
  [[nodiscard]] double spread() const {
    std::vector<double> alone(processes_, 0);
    std::vector<double> at_once(processes_, 0);
    for (std::size_t w = 0; w < wires_.size(); ++w) {
      const std::uint32_t from = wires_[w].wire.from;
      alone[from] = std::max(alone[from], speeds_[w].bandwidth);
      at_once[from] += speeds_[w].bandwidth_together;
    }
    std::transform(
        at_once.begin(), at_once.end(), alone.begin(), at_once.begin(), std::divides<>());
    return median(at_once);
  }
  [[nodiscard]] bool boxed() const { return !between_.bandwidth.empty(); }
  [[nodiscard]] std::uint32_t boxes() const {
    return *std::max_element(box_.begin(), box_.end()) + 1;
  }
  [[nodiscard]] double explained() const {
    return static_cast<double>(inside_.alike() + between_.alike()) /
           static_cast<double>(wires_.size());
  }

  /// A switch for every box, or everybody joined to everybody in it; and a switch for all.
  [[nodiscard]] Result<Topology> network(bool switched) const {
    const std::uint32_t switches = switched ? boxes() : 0;
    TopologyBuilder builder("probed", processes_, switches + (boxed() ? 1 : 0));
    const Bandwidth fast = to_bandwidth(median(inside_.bandwidth));
    const double near = median(inside_.latency);
    for (std::uint32_t p = 0; p < processes_; ++p) {
      if (switched) {
        builder.add_both({NodeId(p), NodeId(processes_ + box_[p]), fast, to_ticks(near / 2)});
      } else {
        join_to_others(builder, p, {NodeId(p), NodeId(p), fast, to_ticks(near)});
      }
      if (boxed()) {
        builder.add_both({NodeId(p),
                          NodeId(processes_ + switches),
                          to_bandwidth(median(between_.bandwidth)),
                          to_ticks(median(between_.latency) / 2)});
      }
    }
    return std::move(builder).build();
  }

 private:
  /// Processes that fast pairs join, numbered from 0.
  void find_boxes(double fast) {
    std::iota(box_.begin(), box_.end(), 0);
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t w = 0; w < wires_.size(); ++w) {
        std::uint32_t& a = box_[wires_[w].wire.from];
        std::uint32_t& b = box_[wires_[w].wire.to];
        if (speeds_[w].bandwidth >= fast && a != b) {
          a = b = std::min(a, b);
          changed = true;
        }
      }
    }
    std::vector<std::uint32_t> numbers = box_;
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    for (std::uint32_t& one : box_) {
      one = static_cast<std::uint32_t>(std::lower_bound(numbers.begin(), numbers.end(), one) -
                                       numbers.begin());
    }
  }
  void join_to_others(TopologyBuilder& builder, std::uint32_t p, Link link) const {
    for (std::uint32_t q = p + 1; q < processes_; ++q) {
      if (box_[p] == box_[q]) {
        link.dst = NodeId(q);
        builder.add_both(link);
      }
    }
  }

  std::uint32_t processes_;
  const std::vector<ProbedWire>& wires_;
  const std::vector<WireSpeed>& speeds_;
  /// By process.
  std::vector<std::uint32_t> box_;
  Kind inside_;
  Kind between_;
};

}  // namespace

std::vector<ProbedWire> wires_of(const Topology& topology) {
  std::vector<ProbedWire> wires;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> channels;
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Link& link = topology.link(LinkId(id));
    if (topology.failed(LinkId(id)) || !topology.is_npu(link.src)) {
      continue;
    }
    std::vector<LinkId> links{LinkId(id)};
    NodeId dst = link.dst;
    if (!topology.is_npu(dst)) {
      const std::optional<LinkId> port = next_port(topology, link.src, dst);
      if (!port) {
        continue;
      }
      links.push_back(*port);
      dst = topology.link(*port).dst;
    }
    const std::uint32_t channel = channels[{link.src.value(), dst.value()}]++;
    wires.push_back({.wire = {.from = link.src.value(), .to = dst.value(), .channel = channel},
                     .links = std::move(links)});
  }
  return wires;
}

std::vector<ProbedWire> all_pairs(std::uint32_t processes) {
  std::vector<ProbedWire> wires;
  wires.reserve(std::size_t{processes} * processes);
  for (std::uint32_t step = 1; step < processes; ++step) {
    for (std::uint32_t from = 0; from < processes; ++from) {
      wires.push_back(
          {.wire = {.from = from, .to = (from + step) % processes, .channel = 0}, .links = {}});
    }
  }
  return wires;
}

Result<MeasuredNetwork> with_speeds(const Topology& topology,
                                    const std::vector<ProbedWire>& wires,
                                    const std::vector<WireSpeed>& speeds) {
  std::vector<const WireSpeed*> of_link(topology.num_links(), nullptr);
  std::vector<std::size_t> shared_by(topology.num_links(), 1);
  std::uint32_t sharing = 0;
  for (std::size_t w = 0; w < wires.size(); ++w) {
    for (const LinkId link : wires[w].links) {
      of_link[link.index()] = &speeds[w];
      shared_by[link.index()] = wires[w].links.size();
    }
    sharing += speeds[w].bandwidth_together < kTenth * speeds[w].bandwidth ? 1 : 0;
  }
  Peers peers;
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    if (of_link[id] != nullptr) {
      peers.add(topology.link(LinkId(id)), *of_link[id]);
    }
  }
  TopologyBuilder builder(
      topology.name() + ", measured", topology.num_npus(), topology.num_switches());
  builder.set_node_names({topology.node_names().begin(), topology.node_names().end()});
  builder.set_npus_forward(topology.npus_forward());
  std::vector<SlowLink> slow;
  std::vector<Bandwidth> found(topology.num_links());
  std::uint32_t unmeasured = 0;
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    Link link = topology.link(LinkId(id));
    found[id] = of_link[id] == nullptr ? link.bandwidth : to_bandwidth(of_link[id]->bandwidth);
    if (topology.failed(LinkId(id))) {
      builder.add_failed_link(link);
      continue;
    }
    if (of_link[id] == nullptr) {
      ++unmeasured;
      builder.add_link(link);
      continue;
    }
    const WireSpeed most = peers.middle(link);
    const double share = of_link[id]->bandwidth / most.bandwidth;
    if (share < kTenth) {
      slow.push_back({.link = LinkId(id), .share = share});
    }
    const WireSpeed& speed = share >= kTenth && share <= 2 - kTenth ? most : *of_link[id];
    link.bandwidth = to_bandwidth(speed.bandwidth);
    link.latency = to_ticks(speed.latency / static_cast<double>(shared_by[id]));
    link.gap = to_ticks(speed.gap);
    builder.add_link(link);
  }
  Result<Topology> measured = std::move(builder).build();
  if (!measured) {
    return measured.error();
  }
  return MeasuredNetwork{.topology = *std::move(measured),
                         .found = std::move(found),
                         .slow = std::move(slow),
                         .unmeasured = unmeasured,
                         .sharing = sharing};
}

Result<ProposedNetwork> propose(std::uint32_t processes,
                                const std::vector<ProbedWire>& wires,
                                const std::vector<WireSpeed>& speeds) {
  // A port is shared when all that a process sends at once is hardly more than to one alone.
  constexpr double kShared = 1.5;
  const Evidence evidence(processes, wires, speeds);
  const double spread = evidence.spread();
  const bool switched = processes > 2 && spread < kShared;
  Result<Topology> topology = evidence.network(switched);
  if (!topology) {
    return topology.error();
  }
  return ProposedNetwork{
      .topology = *std::move(topology),
      .why = fmt::format(
          "{}{}, as a rank sends {:.1f} times as much to all at once as to one",
          evidence.boxed() ? fmt::format("{} boxes joined by a switch, in each ", evidence.boxes())
                           : "",
          switched ? "all on one switch" : "everybody joined to everybody",
          spread),
      .explained = evidence.explained()};
}

}  // namespace tacos::cli
