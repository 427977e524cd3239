// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "draw/layouts/layouts.h"

namespace tacos::draw {
namespace {

constexpr double kPi = 3.14159265358979323846;

/// The sine of an angle up to an eighth of a turn and its cosine, by their series: additions and
/// products alone, which every machine rounds alike.
Place small_angle(double angle) {
  constexpr int kTerms = 9;
  const double square = angle * angle;
  double sine = 0;
  double cosine = 0;
  for (int term = kTerms; term >= 0; --term) {
    sine = 1 - sine * square / ((2 * term + 2) * (2 * term + 3));
    cosine = 1 - cosine * square / ((2 * term + 1) * (2 * term + 2));
  }
  return {cosine, angle * sine};
}

Place unit(double turns) {
  // To within an eighth of the nearest quarter.
  const double quarters = std::floor(turns * 4 + 0.5);
  const Place rest = small_angle((turns - quarters / 4) * 2 * kPi);
  switch ((static_cast<std::int64_t>(quarters) % 4 + 4) % 4) {
    case 0:
      return rest;
    case 1:
      return {-rest.y, rest.x};
    case 2:
      return {-rest.x, -rest.y};
    default:
      return {rest.y, -rest.x};
  }
}

}  // namespace

Place on_circle(Place middle, double radius, double turns) {
  return middle + radius * unit(turns);
}

double circle_radius(std::uint32_t count, double apart) {
  return count < 2 ? 0 : apart / (2 * unit(0.5 / count).y);
}

void Extents::add(Place place) {
  low = {std::min(low.x, place.x), std::min(low.y, place.y)};
  high = {std::max(high.x, place.x), std::max(high.y, place.y)};
}

Layout blank_layout(const Topology& topology, std::string_view rule) {
  Layout layout;
  layout.nodes.resize(topology.num_nodes());
  layout.runs.resize(topology.num_links());
  layout.frame_of.assign(topology.num_nodes(), kNoFrame);
  layout.rule = rule;
  return layout;
}

}  // namespace tacos::draw
