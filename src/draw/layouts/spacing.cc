// SPDX-License-Identifier: MIT
#include "draw/layouts/spacing.h"

#include <algorithm>
#include <cmath>

#include "draw/layouts/layouts.h"

namespace tacos::draw {
namespace {

/// Nodes are at least so far apart, once pushed.
constexpr double kNear = 0.75;

class Tidying {
 public:
  Tidying(const Csr<std::uint32_t>& neighbours, std::vector<Place>& places)
      : size_(static_cast<std::uint32_t>(places.size())),
        neighbours_(neighbours),
        places_(places) {}

  void make_room() {
    stretch();
    push_apart();
    turn();
  }

 private:
  /// Nodes in cells of this side: the nodes of cell c are items[c].
  struct Cells {
    double side;
    Place low;
    std::uint32_t columns;
    std::uint32_t rows;
    Csr<std::uint32_t> nodes;
    [[nodiscard]] std::uint32_t column(Place place) const {
      return std::min(columns - 1, static_cast<std::uint32_t>((place.x - low.x) / side));
    }
    [[nodiscard]] std::uint32_t row(Place place) const {
      return std::min(rows - 1, static_cast<std::uint32_t>((place.y - low.y) / side));
    }
    /// Calls visit(node) for all in the nine cells around.
    template <class Visit>
    void around(Place place, const Visit& visit) const {
      const std::uint32_t x = column(place);
      const std::uint32_t y = row(place);
      for (std::uint32_t j = y > 0 ? y - 1 : 0; j <= std::min(y + 1, rows - 1); ++j) {
        for (std::uint32_t i = x > 0 ? x - 1 : 0; i <= std::min(x + 1, columns - 1); ++i) {
          for (const std::uint32_t node : nodes[std::size_t{j} * columns + i]) {
            visit(node);
          }
        }
      }
    }
  };

  [[nodiscard]] Cells cells(double side) const {
    Extents all;
    for (const Place& place : places_) {
      all.add(place);
    }
    // No more cells than about twice the nodes.
    side = std::max(side, std::sqrt((all.width() + side) * (all.height() + side) / (2.0 * size_)));
    side = std::max({side, all.width() / 30'000, all.height() / 30'000});
    Cells cells{side,
                all.low,
                static_cast<std::uint32_t>(all.width() / side) + 1,
                static_cast<std::uint32_t>(all.height() / side) + 1,
                {}};
    cells.nodes = Csr<std::uint32_t>(std::size_t{cells.columns} * cells.rows, [&](const auto& add) {
      for (std::uint32_t node = 0; node < size_; ++node) {
        add(std::size_t{cells.row(places_[node])} * cells.columns + cells.column(places_[node]),
            node);
      }
    });
    return cells;
  }

  /// Until most nodes have room around them.
  void stretch() {
    const Cells near = cells(1);
    std::vector<double> nearest;
    nearest.reserve(size_);
    for (std::uint32_t node = 0; node < size_; ++node) {
      double least = 4;
      near.around(places_[node], [&](std::uint32_t other) {
        const Place away = places_[node] - places_[other];
        if (other != node) {
          least = std::min(least, away.x * away.x + away.y * away.y);
        }
      });
      nearest.push_back(least);
    }
    const auto tenth = nearest.begin() + static_cast<std::ptrdiff_t>(nearest.size() / 10);
    std::nth_element(nearest.begin(), tenth, nearest.end());
    constexpr double kMost = 4;
    const double factor = std::clamp(1 / std::max(1e-3, std::sqrt(*tenth)), 1.0, kMost);
    for (Place& place : places_) {
      place = factor * place;
    }
  }

  void push_apart() {
    constexpr int kRounds = 12;
    for (int round = 0; round < kRounds; ++round) {
      const Cells near = cells(kNear);
      bool any = false;
      for (std::uint32_t node = 0; node < size_; ++node) {
        near.around(places_[node], [&](std::uint32_t other) {
          const Place away = places_[node] - places_[other];
          if (other > node && away.x * away.x + away.y * away.y < kNear * kNear) {
            const Place change = correction(places_[node], places_[other], kNear);
            places_[node] = places_[node] + 0.5 * change;
            places_[other] = places_[other] - 0.5 * change;
            any = true;
          }
        });
      }
      if (!any) {
        return;
      }
    }
  }

  /// A square root of a point as a complex number: half of its angle.
  static Place half_angle(Place point) {
    const double length = std::sqrt(point.x * point.x + point.y * point.y);
    const double real = std::sqrt(std::max(0.0, (length + point.x) / 2));
    const double imaginary = std::sqrt(std::max(0.0, (length - point.x) / 2));
    return {real, point.y < 0 ? -imaginary : imaginary};
  }

  /// Links upright and level where most can be, else the longer side level.
  void turn() {
    const auto product = [](Place a, Place b) {
      return Place{a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
    };
    Extents all;
    for (const Place& place : places_) {
      all.add(place);
    }
    const Place middle = all.middle();
    Place links;
    Place spread;
    double count = 0;
    for (std::uint32_t node = 0; node < size_; ++node) {
      const Place out = places_[node] - middle;
      spread = spread + product(out, out);
      for (const std::uint32_t other : neighbours_[node]) {
        const Place along = places_[other] - places_[node];
        const double length = along.x * along.x + along.y * along.y;
        const Place twice = (1 / length) * product(along, along);
        links = links + product(twice, twice);
        ++count;
      }
    }
    constexpr double kAgree = 0.3;
    const bool level = links.x * links.x + links.y * links.y > kAgree * kAgree * count * count;
    const Place angle = level ? half_angle(half_angle(links)) : half_angle(spread);
    const double length = std::sqrt(angle.x * angle.x + angle.y * angle.y);
    if (length <= 0) {
      return;
    }
    const Place back{angle.x / length, -angle.y / length};
    for (Place& place : places_) {
      place = product(place, back);
    }
  }

  std::uint32_t size_;
  const Csr<std::uint32_t>& neighbours_;
  std::vector<Place>& places_;
};

}  // namespace

Place correction(Place a, Place b, double wanted) {
  const Place away = a - b;
  const double is = std::sqrt(away.x * away.x + away.y * away.y);
  constexpr double kTiny = 1e-9;
  return is < kTiny ? Place{wanted, 0} : (wanted - is) / is * away;
}

void make_room(const Csr<std::uint32_t>& neighbours, std::vector<Place>& places) {
  Tidying(neighbours, places).make_room();
}

}  // namespace tacos::draw
