// SPDX-License-Identifier: MIT
// Which layout a network gets, and what all of them have in common: links between the same two
// nodes are moved apart, places are rounded to a grid, so that they are the same on every machine,
// and nodes that would then hide each other step aside. O(links log links) beside the layout
// itself.
#include "draw/layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "draw/layouts/layouts.h"

namespace tacos::draw {
namespace {

/// Between links of the same nodes, and how much room they have at most.
constexpr float kLane = 0.13F;
constexpr float kLanesRoom = 0.2F;

double rounded(double value) {
  return std::floor(value * kGrid + 0.5) / kGrid;
}

Place rounded(Place place) {
  return {rounded(place.x), rounded(place.y)};
}

/// Links of one pair of nodes keep to the right: those of either direction on their side, and
/// parallel ones beside each other.
void spread_lanes(const Topology& topology, std::vector<Run>& runs) {
  const auto ends = [&](std::uint32_t id) {
    const Link& link = topology.link(LinkId(id));
    return std::minmax(link.src, link.dst);
  };
  std::vector<std::uint32_t> order(topology.num_links());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return ends(a) < ends(b);
  });
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first;
    std::array<float, 2> counts{};
    const auto way = [&](std::uint32_t id) {
      const Link& link = topology.link(LinkId(id));
      return link.src < link.dst ? 0U : 1U;
    };
    for (; last < order.size() && ends(order[last]) == ends(order[first]); ++last) {
      ++counts[way(order[last])];
    }
    const float most = std::max(counts[0], counts[1]);
    const bool both = counts[0] > 0 && counts[1] > 0;
    const float lane = std::min(kLane, kLanesRoom / std::max(1.0F, both ? most : most / 2));
    std::array<float, 2> next{};
    for (; first < last; ++first) {
      Run& run = runs[order[first]];
      const float nth = next[way(order[first])]++;
      const float aside = both ? (nth + 0.5F) * lane : (nth - (most - 1) / 2) * lane;
      run.room = lane;
      if (run.bend == 0) {
        run.shift = aside;
      } else {
        run.bend += run.bend > 0 ? nth * lane : -nth * lane;
      }
    }
  }
}

/// Nodes at one place step aside, those with the larger ids, to the nearest free place.
void part(std::vector<Place>& nodes) {
  const auto key = [](Place place) {
    const auto x = static_cast<std::int64_t>(place.x * kGrid);
    const auto y = static_cast<std::int64_t>(place.y * kGrid);
    return static_cast<std::uint64_t>(x) << 32U ^ (static_cast<std::uint64_t>(y) & 0xffffffffU);
  };
  std::unordered_set<std::uint64_t> taken;
  taken.reserve(nodes.size());
  for (Place& place : nodes) {
    const Place wanted = place;
    constexpr std::uint32_t kTurns = 8;
    for (std::uint32_t attempt = 0; !taken.insert(key(place)).second; ++attempt) {
      const std::uint32_t round = attempt / kTurns;
      const double radius = 0.5 * (1 + round);
      place = rounded(on_circle(wanted, radius, static_cast<double>(attempt % kTurns) / kTurns));
    }
  }
}

void set_corners(const Topology& topology, Layout& layout) {
  Extents extents;
  for (const Place& place : layout.nodes) {
    extents.add(place - Place{kNpuRadius, kNpuRadius});
    extents.add(place + Place{kNpuRadius, kNpuRadius});
  }
  for (const Frame& frame : layout.frames) {
    extents.add(frame.low);
    extents.add(frame.high);
  }
  constexpr int kPoints = 8;
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    const Run& run = layout.runs[id];
    if (run.bend == 0) {
      continue;
    }
    const Curve curve = curve_of(layout, topology.link(LinkId(id)), run);
    for (int point = 1; point < kPoints; ++point) {
      extents.add(curve.at(static_cast<double>(point) / kPoints));
    }
  }
  layout.low = rounded(extents.low);
  layout.high = rounded(extents.high);
}

}  // namespace

Layout lay_out(const Topology& topology) {
  std::optional<Layout> found = product_layout(topology);
  if (!found) {
    found = circle_layout(topology);
  }
  if (!found) {
    found = tiers_layout(topology);
  }
  Layout layout = found ? *std::move(found) : stress_layout(topology);
  for (Place& place : layout.nodes) {
    place = rounded(place);
  }
  for (Frame& frame : layout.frames) {
    frame.low = rounded(frame.low);
    frame.high = rounded(frame.high);
    frame.skew = rounded(frame.skew);
  }
  part(layout.nodes);
  spread_lanes(topology, layout.runs);
  set_corners(topology, layout);
  return layout;
}

Place Curve::at(double share) const {
  const double rest = 1 - share;
  return rest * rest * rest * from + 3 * rest * rest * share * control_1 +
         3 * rest * share * share * control_2 + share * share * share * to;
}

Curve Curve::until(double share) const {
  // De Casteljau.
  const auto along = [share](Place a, Place b) { return a + share * (b - a); };
  const Place first = along(from, control_1);
  const Place middle = along(control_1, control_2);
  const Place second = along(first, middle);
  return {.from = from,
          .control_1 = first,
          .control_2 = second,
          .to = along(second, along(middle, along(control_2, to)))};
}

Curve curve_of(const Layout& layout, const Link& link, const Run& run) {
  Place from = layout.nodes[link.src.index()];
  Place to = layout.nodes[link.dst.index()];
  const Place between = to - from;
  const double length = std::sqrt(between.x * between.x + between.y * between.y);
  const Place along = (1 / length) * between;
  const Place right{-along.y, along.x};
  from = from + static_cast<double>(run.shift) * right;
  to = to + static_cast<double>(run.shift) * right;
  // The middle of the curve is three quarters of the way to the control points.
  const Place aside = static_cast<double>(run.bend) * 4 / 3 * right;
  const double reach = run.reach > 0 ? -static_cast<double>(run.reach) : length / 3;
  return {.from = from,
          .control_1 = from + reach * along + aside,
          .control_2 = to - reach * along + aside,
          .to = to};
}

}  // namespace tacos::draw
