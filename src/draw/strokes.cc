// SPDX-License-Identifier: MIT
#include "draw/strokes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text/quantity.h"
#include "topology/names.h"

namespace tacos::draw {
namespace {

/// Pixels of a unit below which the two directions of a pair are one line.
constexpr double kUnitForBoth = 17;
/// Below which nobody would see an arrow.
constexpr double kUnitForArrows = 30;
/// More lines than these are drawn spot by spot.
constexpr std::size_t kMostLines = 60'000;
/// Side of a spot in pixels.
constexpr double kSpot = 4;

/// One link for all that are drawn together, or by itself.
Stroke stroke_of(const Scene& scene, const Widths& widths, LinkId id, bool together) {
  const Link& link = scene.topology.link(id);
  Run run = scene.layout.runs[id.index()];
  Stroke stroke;
  stroke.width = widths.of(link.bandwidth);
  if (together) {
    // One line for all of them has more room.
    run.shift = 0;
    stroke.width *= 1.8;
  } else {
    stroke.width = std::min(stroke.width, 0.8 * static_cast<double>(run.room) * scene.unit);
  }
  if (run.reach > 0) {
    // Those that wrap around run over much of the picture, so they hold back.
    stroke.width *= 0.6;
  }
  stroke.curve = curve_of(scene.layout, link, run);
  stroke.straight = run.bend == 0;
  stroke.failed = scene.topology.failed(id);
  if (scene.busy != nullptr && !stroke.failed) {
    stroke.busy = (*scene.busy)[id.index()];
  }
  return stroke;
}

std::string tooltip_of(const Scene& scene, LinkId id) {
  const Link& link = scene.topology.link(id);
  std::string text = fmt::format("{} > {}: {}",
                                 short_name(scene.topology, link.src),
                                 short_name(scene.topology, link.dst),
                                 format_bandwidth(link.bandwidth));
  if (scene.topology.failed(id)) {
    text += ", failed";
  } else if (scene.busy != nullptr) {
    text += fmt::format(", {:.1f}% busy", 100 * (*scene.busy)[id.index()]);
  }
  return text;
}

std::vector<Stroke> each_by_itself(const Scene& scene, const Widths& widths) {
  std::vector<Stroke> strokes;
  strokes.reserve(scene.topology.num_links());
  const bool told_apart = scene.topology.num_links() <= kMostTooltips;
  for (std::uint32_t id = 0; id < scene.topology.num_links(); ++id) {
    Stroke stroke = stroke_of(scene, widths, LinkId(id), false);
    if (told_apart) {
      stroke.tooltip = tooltip_of(scene, LinkId(id));
    }
    if (told_apart && scene.unit >= kUnitForArrows) {
      stroke.arrow = scene.topology.link(LinkId(id)).dst;
    }
    strokes.push_back(std::move(stroke));
  }
  return strokes;
}

/// One for all links of which `key` is the same, with their mean.
template <class Key>
std::vector<Stroke> together(const Scene& scene, const Widths& widths, const Key& key) {
  const Topology& topology = scene.topology;
  std::vector<std::pair<decltype(key(LinkId(0))), std::uint32_t>> order;
  order.reserve(topology.num_links());
  for (std::uint32_t id = 0; id < topology.num_links(); ++id) {
    order.emplace_back(key(LinkId(id)), id);
  }
  std::sort(order.begin(), order.end());
  std::vector<Stroke> strokes;
  for (std::size_t first = 0; first < order.size();) {
    Stroke stroke = stroke_of(scene, widths, LinkId(order[first].second), true);
    double sum = 0;
    double working = 0;
    std::size_t last = first;
    for (; last < order.size() && order[last].first == order[first].first; ++last) {
      const LinkId id(order[last].second);
      if (!topology.failed(id)) {
        ++working;
        sum += scene.busy == nullptr ? 0 : (*scene.busy)[id.index()];
      }
    }
    stroke.failed = working == 0;
    stroke.busy = std::nullopt;
    if (scene.busy != nullptr && working > 0) {
      stroke.busy = sum / working;
    }
    strokes.push_back(std::move(stroke));
    first = last;
  }
  return strokes;
}

template <class Item>
std::pair<Item, Item> in_order(Item a, Item b) {
  return b < a ? std::pair(b, a) : std::pair(a, b);
}

std::vector<Stroke> unordered_strokes(const Scene& scene, const Widths& widths) {
  if (scene.unit >= kUnitForBoth) {
    return each_by_itself(scene, widths);
  }
  std::vector<Stroke> pairs = together(scene, widths, [&](LinkId id) {
    const Link& link = scene.topology.link(id);
    return in_order(link.src, link.dst);
  });
  if (pairs.size() <= kMostLines) {
    return pairs;
  }
  const auto spot = [&](NodeId node) {
    const Place place = scene.layout.nodes[node.index()];
    return std::pair(static_cast<std::int32_t>(std::floor(place.x * scene.unit / kSpot)),
                     static_cast<std::int32_t>(std::floor(place.y * scene.unit / kSpot)));
  };
  return together(scene, widths, [&](LinkId id) {
    const Link& link = scene.topology.link(id);
    return in_order(spot(link.src), spot(link.dst));
  });
}

}  // namespace

Colour Stroke::colour() const {
  if (failed) {
    return kVermilion;
  }
  if (!busy) {
    return kPlain;
  }
  return *busy > 0 ? busy_colour(*busy) : kIdle;
}

Widths::Widths(const Scene& scene) : scale_(std::clamp(scene.unit / 40, 0.12, 1.0)) {
  for (const Link& link : scene.topology.all_links()) {
    fastest_ = std::max(fastest_, static_cast<double>(link.bandwidth.bytes_per_second));
  }
}

double Widths::of(Bandwidth bandwidth) const {
  // By the square root: a link of a tenth of the bandwidth is still to be seen.
  return scale_ *
         (0.6 + 2.3 * std::sqrt(static_cast<double>(bandwidth.bytes_per_second) / fastest_));
}

std::vector<Stroke> strokes_of(const Scene& scene) {
  std::vector<Stroke> strokes = unordered_strokes(scene, Widths(scene));
  std::stable_sort(strokes.begin(), strokes.end(), [](const Stroke& a, const Stroke& b) {
    return std::pair(a.failed, a.busy.value_or(0)) < std::pair(b.failed, b.busy.value_or(0));
  });
  return strokes;
}

}  // namespace tacos::draw
