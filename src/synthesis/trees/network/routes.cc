// SPDX-License-Identifier: MIT
// O(links) for direct links; for each port of an NPU the switches behind it, and 64 routes.
#include "synthesis/trees/network/routes.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "base/numbers/wide.h"

namespace tacos::trees {
namespace {

constexpr std::uint32_t kMostTargets = 64;

/// How far apart in a list of `size` NPUs those are that a port is joined to: all, or powers of two
/// and even steps, the same in both directions.
std::vector<std::uint32_t> offsets(std::uint32_t size) {
  std::vector<std::uint32_t> result;
  if (size <= kMostTargets + 1) {
    result.resize(size - 1);
    std::iota(result.begin(), result.end(), 1U);
    return result;
  }
  for (std::uint32_t power = 1; power <= size / 2; power *= 2) {
    result.insert(result.end(), {power, size - power});
  }
  const std::uint32_t stride = size / (kMostTargets / 2);
  for (std::uint32_t far = stride; far <= size / 2 && result.size() < kMostTargets; far += stride) {
    result.insert(result.end(), {far, size - far});
  }
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

/// Routes that begin with one port.
class PortRoutes {
 public:
  explicit PortRoutes(const Topology& topology)
      : topology_(topology), hops_(topology.num_nodes(), kNone), uses_(topology.num_links(), 0) {}

  /// Finds what lies behind the port; targets() are then the NPUs there, sorted, with its own.
  void explore(LinkId port) {
    for (const std::uint32_t node : reached_) {
      hops_[node] = kNone;
    }
    const Link& link = topology_.link(port);
    port_ = port;
    targets_.assign(1, link.src.value());
    reached_.assign({link.src.value(), link.dst.value()});
    hops_[link.src.value()] = 0;
    hops_[link.dst.value()] = 1;
    for (std::size_t next = 1; next < reached_.size(); ++next) {
      const NodeId node(reached_[next]);
      if (topology_.is_npu(node)) {
        targets_.push_back(node.value());
        continue;
      }
      for (const LinkId out : topology_.out_links(node)) {
        const std::uint32_t other = topology_.link(out).dst.value();
        if (hops_[other] == kNone) {
          hops_[other] = hops_[node.value()] + 1;
          reached_.push_back(other);
        }
      }
    }
    std::sort(targets_.begin(), targets_.end());
  }
  [[nodiscard]] std::span<const std::uint32_t> targets() const { return targets_; }

  /// A shortest way to a target; where there are several, over links that are used least.
  [[nodiscard]] Route route_to(std::uint32_t target) {
    Route route{.source = topology_.link(port_).src.value(), .target = target, .links = {}};
    for (NodeId node(target); hops_[node.value()] > 1;) {
      LinkId best;
      bool found = false;
      for (const LinkId in : topology_.in_links(node)) {
        const NodeId before = topology_.link(in).src;
        if (!topology_.is_npu(before) && hops_[before.value()] + 1 == hops_[node.value()] &&
            (!found || fuller(best, in))) {
          best = in;
          found = true;
        }
      }
      route.links.push_back(best);
      node = topology_.link(best).src;
    }
    route.links.push_back(port_);
    std::reverse(route.links.begin(), route.links.end());
    for (const LinkId link : route.links) {
      ++uses_[link.index()];
    }
    return route;
  }

 private:
  [[nodiscard]] bool fuller(LinkId a, LinkId b) const {
    const auto load = [&](LinkId link, LinkId other) {
      return Int128{uses_[link.index()] + 1} * topology_.link(other).bandwidth.bytes_per_second;
    };
    return load(a, b) > load(b, a);
  }

  const Topology& topology_;
  LinkId port_;
  /// Links from the source, of what reached_ lists.
  std::vector<std::uint32_t> hops_;
  std::vector<std::uint32_t> reached_;
  std::vector<std::uint32_t> targets_;
  std::vector<std::int64_t> uses_;
};

/// With the routes back beside them when links have twins.
void add_switched(const Topology& topology,
                  const std::vector<LinkId>& twins,
                  std::vector<Route>& routes) {
  PortRoutes ports(topology);
  for (std::uint32_t i = 0; i < topology.num_links(); ++i) {
    const Link& port = topology.link(LinkId(i));
    if (topology.failed(LinkId(i)) || !topology.is_npu(port.src) || topology.is_npu(port.dst)) {
      continue;
    }
    ports.explore(LinkId(i));
    const auto targets = ports.targets();
    const auto self = static_cast<std::uint32_t>(
        std::lower_bound(targets.begin(), targets.end(), port.src.value()) - targets.begin());
    for (const std::uint32_t offset : offsets(static_cast<std::uint32_t>(targets.size()))) {
      const std::uint32_t target = targets[(self + offset) % targets.size()];
      if (!twins.empty() && target < port.src.value()) {
        continue;
      }
      routes.push_back(ports.route_to(target));
      if (!twins.empty()) {
        Route back{.source = target, .target = port.src.value(), .links = {}};
        const std::vector<LinkId>& there = routes.back().links;
        for (auto link = there.rbegin(); link != there.rend(); ++link) {
          back.links.push_back(twins[link->index()]);
        }
        const auto number = static_cast<std::uint32_t>(routes.size());
        routes.back().twin = number;
        back.twin = number - 1;
        routes.push_back(std::move(back));
      }
    }
  }
}

}  // namespace

std::vector<Route> find_routes(const Topology& topology, const std::vector<LinkId>& twins) {
  std::vector<Route> routes;
  std::vector<std::uint32_t> direct(topology.num_links(), kNone);
  for (std::uint32_t i = 0; i < topology.num_links(); ++i) {
    const Link& link = topology.link(LinkId(i));
    if (!topology.failed(LinkId(i)) && topology.is_npu(link.src) && topology.is_npu(link.dst)) {
      direct[i] = static_cast<std::uint32_t>(routes.size());
      routes.push_back(
          {.source = link.src.value(), .target = link.dst.value(), .links = {LinkId(i)}});
    }
  }
  for (Route& route : routes) {
    route.twin = twins.empty() ? kNone : direct[twins[route.links[0].index()].index()];
  }
  if (topology.num_switches() == 0) {
    return routes;
  }
  add_switched(topology, twins, routes);
  std::vector<std::uint32_t> order(routes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return routes[a].links < routes[b].links;
  });
  std::vector<std::uint32_t> place(routes.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
  }
  std::vector<Route> sorted(routes.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    sorted[i] = std::move(routes[order[i]]);
    sorted[i].twin = sorted[i].twin == kNone ? kNone : place[sorted[i].twin];
  }
  return sorted;
}

}  // namespace tacos::trees
