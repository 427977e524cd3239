// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <numeric>

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

std::uint32_t columns_for(std::uint32_t count, double width, double height) {
  const double wanted = std::max(1.0, std::sqrt(kShape * count * height / width));
  const auto rows = static_cast<std::uint32_t>(std::max(1.0, std::floor(count / wanted + 0.5)));
  return (count + rows - 1) / rows;
}

std::vector<Place> staggered_rows(std::uint32_t count) {
  constexpr std::uint32_t kOneRow = 5;
  const std::uint32_t columns = count <= kOneRow ? count : columns_for(count, 1, 1.2);
  std::vector<Place> places;
  places.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t row = i / columns;
    places.push_back({i % columns + (row % 2 == 1 ? 0.5 : 0.0), static_cast<double>(row)});
  }
  return places;
}

namespace {

/// The places nearest to those wanted, increasing, that are `apart`: neighbours that are in each
/// other's way become a block whose middle is where they want on average.
std::vector<double> kept_apart(const std::vector<double>& wanted, double apart) {
  struct Block {
    double sum;
    std::size_t count;
  };
  std::vector<Block> blocks;
  blocks.reserve(wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    blocks.push_back({wanted[i] - static_cast<double>(i) * apart, 1});
    while (blocks.size() > 1) {
      const Block last = blocks.back();
      Block& before = blocks[blocks.size() - 2];
      if (before.sum / static_cast<double>(before.count) <=
          last.sum / static_cast<double>(last.count)) {
        break;
      }
      before.sum += last.sum;
      before.count += last.count;
      blocks.pop_back();
    }
  }
  std::vector<double> places;
  places.reserve(wanted.size());
  for (const Block& block : blocks) {
    for (std::size_t i = 0; i < block.count; ++i) {
      places.push_back(block.sum / static_cast<double>(block.count) +
                       static_cast<double>(places.size()) * apart);
    }
  }
  return places;
}

}  // namespace

std::vector<Place> rows_above(const Extents& below,
                              double lift,
                              const std::vector<double>& wanted) {
  constexpr double kNearest = 0.9;
  constexpr double kFarthest = 2.5;
  constexpr double kBetweenRows = 0.95;
  const std::size_t count = wanted.size();
  const double room = std::max(below.width(), 1.0);
  const std::size_t per_row = std::min(count, static_cast<std::size_t>(room / kNearest) + 1);
  const std::size_t rows = (count + per_row - 1) / per_row;
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return wanted[a] < wanted[b];
  });
  std::vector<Place> places(count);
  for (std::size_t row = 0; row < rows; ++row) {
    // Of those that want to be near each other, one in each row.
    std::vector<std::size_t> here;
    std::vector<double> targets;
    for (std::size_t i = row; i < count; i += rows) {
      here.push_back(order[i]);
      targets.push_back(wanted[order[i]]);
    }
    const double apart = std::clamp(room / static_cast<double>(here.size()), kNearest, kFarthest);
    const std::vector<double> xs = kept_apart(targets, apart);
    for (std::size_t i = 0; i < here.size(); ++i) {
      places[here[i]] = {xs[i], below.low.y - lift - static_cast<double>(row) * kBetweenRows};
    }
  }
  return places;
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
