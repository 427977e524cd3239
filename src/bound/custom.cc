// SPDX-License-Identifier: MIT
// What must cross a cut. A copied chunk enters a set of nodes when it has a destination but no
// source inside; a summed one when it has a destination inside and a source outside. Its bytes
// enter at least once, so they divided by the bandwidth into the set bound the time. Tried are all
// single nodes and all components that links of some speed join, as receiving and as sending sides:
// O(links + sources + destinations) for each speed level.
//
// With latency: of what one NPU receives, the part whose nearest source (of a sum: farthest) is at
// least r away cannot begin to arrive before r. One search from each of the NPUs with most to
// receive.
#include "bound/custom.h"

#include <algorithm>
#include <vector>

#include "base/numbers/wide.h"
#include "bound/cuts/components.h"
#include "bound/distance.h"
#include "bound/instance.h"

namespace tacos {
namespace {

/// Bytes that must enter and leave a set of nodes, and the bandwidth for it.
struct Traffic {
  std::int64_t bytes_in = 0;
  std::int64_t bytes_out = 0;
  Int128 bandwidth_in = 0;
  Int128 bandwidth_out = 0;
};

class CustomCuts {
 public:
  CustomCuts(const Topology& topology, const Collective& collective)
      : topology_(topology), collective_(collective) {}

  Certificate best() {
    for_speed_levels(topology_, [&](Components& components) { evaluate(components); });
    return best_;
  }
  /// Of every node: what it must receive alone.
  [[nodiscard]] const std::vector<Traffic>& singles() const { return singles_; }

 private:
  void evaluate(Components& components) {
    traffic_.assign(topology_.num_nodes(), {});
    num_sources_.assign(topology_.num_nodes(), 0);
    num_destinations_.assign(topology_.num_nodes(), 0);
    for (std::uint32_t c = 0; c < collective_.num_chunks(); ++c) {
      add_chunk(ChunkId(c), components);
    }
    for (const Link& link : topology_.links()) {
      const std::uint32_t src = components.find(link.src.value());
      const std::uint32_t dst = components.find(link.dst.value());
      if (src != dst) {
        traffic_[src].bandwidth_out += link.bandwidth.bytes_per_second;
        traffic_[dst].bandwidth_in += link.bandwidth.bytes_per_second;
      }
    }
    for (std::uint32_t node = 0; node < topology_.num_nodes(); ++node) {
      const Traffic& traffic = traffic_[node];
      consider(components, node, traffic.bytes_in, traffic.bandwidth_in, Side::kReceives);
      consider(components, node, traffic.bytes_out, traffic.bandwidth_out, Side::kSends);
    }
    if (singles_.empty()) {
      singles_ = traffic_;
    }
  }

  /// Counts how many ends of the chunk each component has, and what follows from it.
  void add_chunk(ChunkId chunk, Components& components) {
    const auto sources = collective_.sources(chunk);
    const auto destinations = collective_.destinations(chunk);
    touched_.clear();
    const auto count = [&](std::span<const std::uint32_t> ends,
                           std::vector<std::uint32_t>& number) {
      for (const std::uint32_t end : ends) {
        const std::uint32_t at = components.find(collective_.participants()[end].value());
        if (num_sources_[at] == 0 && num_destinations_[at] == 0) {
          touched_.push_back(at);
        }
        ++number[at];
      }
    };
    count(sources, num_sources_);
    count(destinations, num_destinations_);
    const bool reduces = collective_.reduces(chunk);
    const std::int64_t bytes = collective_.chunks().bytes(chunk).count;
    for (const std::uint32_t at : touched_) {
      const bool all_sources = num_sources_[at] == sources.size();
      const bool all_destinations = num_destinations_[at] == destinations.size();
      const bool missing = reduces ? !all_sources : num_sources_[at] == 0;
      const bool needed = reduces ? num_sources_[at] > 0 : all_sources;
      traffic_[at].bytes_in += num_destinations_[at] > 0 && missing ? bytes : 0;
      traffic_[at].bytes_out += !all_destinations && needed ? bytes : 0;
      num_sources_[at] = 0;
      num_destinations_[at] = 0;
    }
  }

  void consider(Components& components,
                std::uint32_t component,
                std::int64_t bytes,
                Int128 bandwidth,
                Side side) {
    if (bytes == 0) {
      return;
    }
    const Ticks time = transfer_time(1, bytes, bandwidth);
    if (best_.kind == CertificateKind::kCut && time <= best_.time) {
      return;
    }
    best_.kind = CertificateKind::kCut;
    best_.bytes = bytes;
    best_.bandwidth = saturated(bandwidth);
    best_.time = time;
    best_.receivers.clear();
    for (std::uint32_t node = 0; node < topology_.num_nodes(); ++node) {
      if ((components.find(node) == component) == (side == Side::kReceives)) {
        best_.receivers.emplace_back(node);
      }
    }
  }

  const Topology& topology_;
  const Collective& collective_;
  std::vector<Traffic> traffic_;
  std::vector<Traffic> singles_;
  std::vector<std::uint32_t> num_sources_;
  std::vector<std::uint32_t> num_destinations_;
  std::vector<std::uint32_t> touched_;
  Certificate best_;
};

/// The distances at which what a target receives starts, and how much it is.
struct Arrival {
  Ticks distance;
  std::int64_t bytes = 0;
};

class CustomTimedCuts {
 public:
  CustomTimedCuts(const Topology& topology, const Collective& collective)
      : topology_(topology), collective_(collective) {}

  void try_target(NodeId target) {
    const std::vector<Ticks> to_target = distances(topology_, target, Toward::kTo);
    std::vector<Arrival> arrivals = arrivals_at(target, to_target);
    std::sort(arrivals.begin(), arrivals.end(), [](const Arrival& a, const Arrival& b) {
      return a.distance > b.distance;
    });
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < arrivals.size(); ++i) {
      bytes += arrivals[i].bytes;
      if (i + 1 == arrivals.size() || arrivals[i + 1].distance != arrivals[i].distance) {
        consider(target, to_target, arrivals[i].distance, bytes);
      }
    }
  }
  [[nodiscard]] const Certificate& best() const { return best_; }

 private:
  [[nodiscard]] std::vector<Arrival> arrivals_at(NodeId target,
                                                 const std::vector<Ticks>& to_target) const {
    const auto participants = collective_.participants();
    const auto number = static_cast<std::uint32_t>(
        std::lower_bound(participants.begin(), participants.end(), target) - participants.begin());
    std::vector<Arrival> arrivals;
    for (std::uint32_t c = 0; c < collective_.num_chunks(); ++c) {
      const ChunkId chunk(c);
      if (!collective_.ends_with(chunk, number)) {
        continue;
      }
      const bool reduces = collective_.reduces(chunk);
      Ticks distance = reduces ? Ticks{0} : kMaxTime;
      for (const std::uint32_t source : collective_.sources(chunk)) {
        const Ticks way = to_target[participants[source].index()];
        distance = reduces ? std::max(distance, way) : std::min(distance, way);
      }
      const bool here = collective_.starts_with(chunk, number) &&
                        (!reduces || collective_.sources(chunk).size() == 1);
      if (!here) {
        arrivals.push_back({distance, collective_.chunks().bytes(chunk).count});
      }
    }
    return arrivals;
  }

  /// The first time at which the links into the target have carried the bytes.
  void consider(NodeId target,
                const std::vector<Ticks>& to_target,
                Ticks radius,
                std::int64_t bytes) {
    const auto enough = [&](std::int64_t time) {
      // Counted down, so that it cannot overflow.
      Int128 left = bytes * Int128{1'000'000'000'000};
      for (const LinkId id : topology_.in_links(target)) {
        const Link& link = topology_.link(id);
        const std::int64_t used = time - std::max(radius, link.latency).ps;
        left -= used <= 0 ? Int128{0} : Int128{link.bandwidth.bytes_per_second} * used;
        if (left <= 0) {
          return true;
        }
      }
      return false;
    };
    if (enough(best_.time.ps)) {
      return;
    }
    std::int64_t low = best_.time.ps;
    std::int64_t high = kMaxTime.ps;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (enough(middle) ? high : low) = middle;
    }
    Int128 bandwidth = 0;
    for (const LinkId id : topology_.in_links(target)) {
      bandwidth += topology_.link(id).bandwidth.bytes_per_second;
    }
    best_ = {};
    best_.kind = CertificateKind::kCut;
    best_.receivers = {target};
    best_.timing = CutTiming{.target = target,
                             .radius = radius,
                             .to_target = to_target,
                             .source = {},
                             .from_source = {}};
    best_.bytes = bytes;
    best_.bandwidth = saturated(bandwidth);
    best_.time = Ticks{high};
  }

  const Topology& topology_;
  const Collective& collective_;
  Certificate best_;
};

/// The NPUs that need longest for what they receive, at most `most` of them.
std::vector<NodeId> busiest(const std::vector<Traffic>& singles, std::size_t most) {
  std::vector<std::pair<Ticks, NodeId>> times;
  for (std::uint32_t node = 0; node < singles.size(); ++node) {
    const Traffic& traffic = singles[node];
    if (traffic.bytes_in > 0) {
      times.emplace_back(transfer_time(1, traffic.bytes_in, traffic.bandwidth_in), NodeId(node));
    }
  }
  std::stable_sort(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  times.resize(std::min(times.size(), most));
  std::vector<NodeId> nodes;
  nodes.reserve(times.size());
  for (const auto& [time, node] : times) {
    nodes.push_back(node);
  }
  return nodes;
}

/// Nodes from which `node` can be reached.
std::vector<std::uint8_t> reaching(const Topology& topology, NodeId node) {
  std::vector<std::uint8_t> seen(topology.num_nodes(), 0);
  std::vector<NodeId> queue{node};
  seen[node.index()] = 1;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const LinkId id : topology.in_links(queue[at])) {
      const NodeId from = topology.link(id).src;
      if (seen[from.index()] == 0) {
        seen[from.index()] = 1;
        queue.push_back(from);
      }
    }
  }
  return seen;
}

}  // namespace

std::optional<std::pair<NodeId, NodeId>> find_unreachable_custom(const Topology& topology,
                                                                 const Collective& collective) {
  const auto participants = collective.participants();
  for (std::uint32_t to = 0; to < collective.num_participants(); ++to) {
    std::vector<std::uint8_t> seen;
    for (std::uint32_t c = 0; c < collective.num_chunks(); ++c) {
      const ChunkId chunk(c);
      if (!collective.ends_with(chunk, to)) {
        continue;
      }
      if (seen.empty()) {
        seen = reaching(topology, participants[to]);
      }
      const auto sources = collective.sources(chunk);
      const auto cut_off = [&](std::uint32_t source) {
        return seen[participants[source].index()] == 0;
      };
      const auto missed = std::find_if(sources.begin(), sources.end(), cut_off);
      const bool infeasible = collective.reduces(chunk)
                                  ? missed != sources.end()
                                  : std::all_of(sources.begin(), sources.end(), cut_off);
      if (infeasible) {
        return std::pair(participants[*missed], participants[to]);
      }
    }
  }
  return std::nullopt;
}

BoundReport bound_custom(const Topology& topology, const Collective& collective) {
  BoundReport report;
  CustomCuts cuts(topology, collective);
  report.bandwidth.certificate = cuts.best();
  report.bandwidth.time = report.bandwidth.certificate.time;
  report.bandwidth.name = "cut";
  report.best = report.bandwidth;
  if (report.bandwidth.certificate.kind == CertificateKind::kNothing) {
    report.bandwidth.name = report.best.name = "latency";
    report.bandwidth.exact = report.best.exact = true;
    return report;
  }
  constexpr std::size_t kMostTargets = 64;
  CustomTimedCuts timed(topology, collective);
  for (const NodeId target : busiest(cuts.singles(), kMostTargets)) {
    timed.try_target(target);
  }
  if (timed.best().time > report.best.time) {
    report.best.certificate = timed.best();
    report.best.time = timed.best().time;
    report.best.name = "combined";
  }
  return report;
}

}  // namespace tacos
