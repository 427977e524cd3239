// SPDX-License-Identifier: MIT
// Any network: distances in the picture are as near as can be to distances in the network.
//
// What is minimized is the stress, the sum over pairs of nodes of (|x - y| - d)^2 / d^2, by
// stochastic gradient descent (Zheng, Pawar, Goodman 2018): pairs are moved towards their distance
// one after the other, by less and less. Of a large network every node looks at its neighbours and
// at pivots alone, each of which stands for the nodes near it (Ortmann, Klimenta, Brandes 2016).
// The start is classical scaling of the distances to the pivots (pivot MDS, Brandes and others
// 2006), so that large networks do not begin in knots. Then it is tidied up (spacing.cc).
//
// Everything is additions, products, quotients and square roots in a fixed order, which every
// machine rounds alike, and our own random numbers; so the picture is the same everywhere. Parts
// that are not joined are laid out by themselves and packed in rows.
//
// O(pivots x links) for the distances, O(nodes x pivots) for each of 17 rounds; with at most kFull
// nodes every node is a pivot. There are 50 pivots up to 80,000 nodes, then fewer, down to 12.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/csr.h"
#include "base/numbers/rng.h"
#include "draw/layouts/layouts.h"
#include "draw/layouts/spacing.h"

namespace tacos::draw {
namespace {

constexpr std::uint32_t kFull = 200;
constexpr std::uint32_t kMostPivots = 50;
constexpr std::uint32_t kLeastPivots = 12;
constexpr std::uint32_t kDistances = 4'000'000;
constexpr std::uint32_t kNever = ~std::uint32_t{0};
constexpr std::uint64_t kSeed = 18;

/// A connected part of the network; nodes have numbers of their own.
class Part {
 public:
  Part(const Csr<std::uint32_t>& neighbours, const std::vector<std::uint32_t>& nodes)
      : size_(static_cast<std::uint32_t>(nodes.size())), places_(nodes.size()) {
    neighbours_ = Csr<std::uint32_t>(nodes.size(), [&](const auto& add) {
      for (std::uint32_t i = 0; i < size_; ++i) {
        for (const std::uint32_t other : neighbours[nodes[i]]) {
          const auto found = std::lower_bound(nodes.begin(), nodes.end(), other);
          add(i, static_cast<std::uint32_t>(found - nodes.begin()));
        }
      }
    });
  }

  std::vector<Place> make() {
    if (size_ > 2) {
      choose_pivots();
      start();
      descend();
      make_room(neighbours_, places_);
    } else if (size_ == 2) {
      places_[1].x = 1;
    }
    return std::move(places_);
  }

 private:
  [[nodiscard]] std::uint32_t& distance(std::uint32_t node, std::uint32_t pivot) {
    return distances_[std::size_t{node} * pivots_ + pivot];
  }

  void walk_from(std::uint32_t source, std::uint32_t pivot) {
    queue_.assign(1, source);
    hops_.assign(size_, kNever);
    hops_[source] = 0;
    for (std::size_t head = 0; head < queue_.size(); ++head) {
      const std::uint32_t node = queue_[head];
      for (const std::uint32_t other : neighbours_[node]) {
        if (hops_[other] == kNever) {
          hops_[other] = hops_[node] + 1;
          queue_.push_back(other);
        }
      }
    }
    for (std::uint32_t node = 0; node < size_; ++node) {
      distance(node, pivot) = hops_[node];
    }
  }

  /// Each as far as can be from those before it.
  void choose_pivots() {
    pivots_ = size_ <= kFull ? size_ : std::clamp(kDistances / size_, kLeastPivots, kMostPivots);
    distances_.assign(std::size_t{size_} * pivots_, kNever);
    std::vector<std::uint32_t> nearest(size_, kNever);
    region_.assign(size_, 0);
    std::uint32_t next = 0;
    for (std::uint32_t pivot = 0; pivot < pivots_; ++pivot) {
      walk_from(next, pivot);
      pivot_nodes_.push_back(next);
      for (std::uint32_t node = 0; node < size_; ++node) {
        if (distance(node, pivot) < nearest[node]) {
          nearest[node] = distance(node, pivot);
          region_[node] = pivot;
        }
      }
      next = static_cast<std::uint32_t>(std::max_element(nearest.begin(), nearest.end()) -
                                        nearest.begin());
    }
  }

  /// Classical scaling: the two directions in which the distances to the pivots vary most.
  void start() {
    const std::size_t columns = pivots_;
    std::vector<double> centred(distances_.size());
    std::vector<double> column_mean(columns, 0);
    double mean = 0;
    for (std::size_t i = 0; i < centred.size(); ++i) {
      const auto d = static_cast<double>(distances_[i]);
      centred[i] = d * d;
      column_mean[i % columns] += centred[i] / size_;
    }
    for (const double one : column_mean) {
      mean += one / static_cast<double>(columns);
    }
    for (std::size_t row = 0; row < size_; ++row) {
      double* const values = &centred[row * columns];
      const double row_mean =
          std::accumulate(values, values + columns, 0.0) / static_cast<double>(columns);
      for (std::size_t column = 0; column < columns; ++column) {
        values[column] = (row_mean + column_mean[column] - mean - values[column]) / 2;
      }
    }
    std::vector<double> products(columns * columns, 0);
    for (std::size_t row = 0; row < size_; ++row) {
      const double* const values = &centred[row * columns];
      for (std::size_t a = 0; a < columns; ++a) {
        for (std::size_t b = 0; b < columns; ++b) {
          products[a * columns + b] += values[a] * values[b];
        }
      }
    }
    const std::vector<double> first = principal(products, {});
    const std::vector<double> second = principal(products, first);
    Rng rng(kSeed);
    const auto jitter = [&rng] {
      constexpr double kWhole = 1U << 20U;
      return rng.below(1U << 20U) / kWhole * 0.01;
    };
    for (std::size_t row = 0; row < size_; ++row) {
      const double* const values = &centred[row * columns];
      places_[row] = {std::inner_product(values, values + columns, first.begin(), jitter()),
                      std::inner_product(values, values + columns, second.begin(), jitter())};
    }
    fit_start();
  }

  /// The largest direction of a symmetric matrix that has nothing of `without`: power iteration.
  [[nodiscard]] std::vector<double> principal(const std::vector<double>& matrix,
                                              const std::vector<double>& without) const {
    constexpr int kRounds = 80;
    std::vector<double> vector(pivots_);
    Rng rng(kSeed + without.size());
    for (double& value : vector) {
      value = rng.below(1U << 20U) - 524'288.0;
    }
    for (int round = 0; round < kRounds; ++round) {
      if (!without.empty()) {
        const double part = std::inner_product(vector.begin(), vector.end(), without.begin(), 0.0);
        for (std::size_t i = 0; i < vector.size(); ++i) {
          vector[i] -= part * without[i];
        }
      }
      std::vector<double> next(pivots_, 0);
      for (std::size_t i = 0; i < vector.size(); ++i) {
        next[i] = std::inner_product(vector.begin(), vector.end(), &matrix[i * vector.size()], 0.0);
      }
      const double length =
          std::sqrt(std::inner_product(next.begin(), next.end(), next.begin(), 0.0));
      if (length <= 0) {
        break;
      }
      for (std::size_t i = 0; i < vector.size(); ++i) {
        vector[i] = next[i] / length;
      }
    }
    return vector;
  }

  /// As large as the distances say.
  void fit_start() {
    double wanted = 0;
    double is = 0;
    for (std::uint32_t node = 0; node < size_; ++node) {
      for (std::uint32_t pivot = 0; pivot < std::min(pivots_, 8U); ++pivot) {
        const Place away = places_[node] - places_[pivot_nodes_[pivot]];
        wanted += distance(node, pivot);
        is += std::sqrt(away.x * away.x + away.y * away.y);
      }
    }
    const double factor = is > 0 ? wanted / is : 1;
    for (Place& place : places_) {
      place = factor * place;
    }
  }

  /// How many nodes a pivot stands for, seen from so far: those of its region that are not farther
  /// from it than half of that.
  [[nodiscard]] std::vector<std::vector<double>> crowds() {
    std::vector<std::vector<double>> counts(pivots_);
    for (std::uint32_t node = 0; node < size_; ++node) {
      std::vector<double>& of = counts[region_[node]];
      const std::size_t d = distance(node, region_[node]);
      of.resize(std::max(of.size(), d + 1), 0);
      ++of[d];
    }
    for (std::vector<double>& of : counts) {
      std::partial_sum(of.begin(), of.end(), of.begin());
    }
    return counts;
  }

  void descend() {
    const std::vector<std::vector<double>> crowd = crowds();
    double farthest = 1;
    for (const std::uint32_t d : distances_) {
      farthest = std::max(farthest, static_cast<double>(d));
    }
    // From the largest step that makes sense to a small one, in 16 equal ratios.
    constexpr double kLast = 0.1;
    double ratio = kLast / (farthest * farthest);
    for (int halving = 0; halving < 4; ++halving) {
      ratio = std::sqrt(ratio);
    }
    std::vector<std::uint32_t> order(size_);
    std::iota(order.begin(), order.end(), 0U);
    Rng rng(kSeed);
    double step = farthest * farthest;
    for (int round = 0; round <= 16; ++round, step *= ratio) {
      for (std::uint32_t i = size_; i > 1; --i) {
        std::swap(order[i - 1], order[rng.below(i)]);
      }
      for (const std::uint32_t node : order) {
        move(node, step, crowd);
      }
    }
  }

  void move(std::uint32_t node, double step, const std::vector<std::vector<double>>& crowd) {
    for (std::uint32_t pivot = 0; pivot < pivots_; ++pivot) {
      const std::uint32_t d = distance(node, pivot);
      if (d < 2) {
        continue;
      }
      const std::vector<double>& of = crowd[pivot];
      const double stands_for =
          of.empty() ? 1 : std::max(1.0, of[std::min<std::size_t>(d / 2, of.size() - 1)]);
      const auto wanted = static_cast<double>(d);
      const double part = std::min(1.0, step * stands_for / (wanted * wanted));
      const Place change = correction(places_[node], places_[pivot_nodes_[pivot]], wanted);
      places_[node] = places_[node] + part / 2 * change;
      // Both ends see each other when every node is a pivot.
      if (pivots_ == size_) {
        Place& other = places_[pivot_nodes_[pivot]];
        other = other - part / 2 * change;
      }
    }
    for (const std::uint32_t other : neighbours_[node]) {
      const Place change = correction(places_[node], places_[other], 1);
      const double part = std::min(1.0, step) / 2;
      places_[node] = places_[node] + part * change;
      places_[other] = places_[other] - part * change;
    }
  }

  std::uint32_t size_;
  Csr<std::uint32_t> neighbours_;
  std::vector<Place> places_;
  std::uint32_t pivots_ = 0;
  std::vector<std::uint32_t> pivot_nodes_;
  /// By node, then pivot.
  std::vector<std::uint32_t> distances_;
  /// By node: the pivot that is nearest.
  std::vector<std::uint32_t> region_;
  std::vector<std::uint32_t> queue_;
  /// Of the walk: by node, how far it is.
  std::vector<std::uint32_t> hops_;
};

/// In either direction, each once.
Csr<std::uint32_t> neighbours_in(const Topology& topology) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  pairs.reserve(std::size_t{2} * topology.num_links());
  for (const Link& link : topology.all_links()) {
    pairs.emplace_back(link.src.value(), link.dst.value());
    pairs.emplace_back(link.dst.value(), link.src.value());
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return {topology.num_nodes(), [&](const auto& add) {
            for (const auto& [node, other] : pairs) {
              add(node, other);
            }
          }};
}

/// The nodes of each part, increasing; larger parts first.
std::vector<std::vector<std::uint32_t>> parts_of(const Csr<std::uint32_t>& neighbours,
                                                 std::uint32_t nodes) {
  std::vector<std::vector<std::uint32_t>> parts;
  std::vector<bool> seen(nodes, false);
  for (std::uint32_t start = 0; start < nodes; ++start) {
    if (seen[start]) {
      continue;
    }
    std::vector<std::uint32_t> part{start};
    seen[start] = true;
    for (std::size_t head = 0; head < part.size(); ++head) {
      for (const std::uint32_t other : neighbours[part[head]]) {
        if (!seen[other]) {
          seen[other] = true;
          part.push_back(other);
        }
      }
    }
    std::sort(part.begin(), part.end());
    parts.push_back(std::move(part));
  }
  std::stable_sort(
      parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return parts;
}

}  // namespace

Layout stress_layout(const Topology& topology) {
  constexpr double kBetweenPieces = 1.2;
  Layout layout = blank_layout(topology, "stress");
  const Csr<std::uint32_t> neighbours = neighbours_in(topology);
  const auto parts = parts_of(neighbours, topology.num_nodes());
  std::vector<Extents> extents;
  extents.reserve(parts.size());
  double area = 0;
  for (const std::vector<std::uint32_t>& part : parts) {
    const std::vector<Place> places = Part(neighbours, part).make();
    Extents around;
    for (std::size_t i = 0; i < part.size(); ++i) {
      layout.nodes[part[i]] = places[i];
      around.add(places[i]);
    }
    area += (around.width() + kBetweenPieces) * (around.height() + kBetweenPieces);
    extents.push_back(around);
  }
  // Row by row, as wide as makes the whole look good.
  const double wide = std::max(std::sqrt(kShape * area), extents.front().width() + kBetweenPieces);
  Place next;
  double row = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (next.x > 0 && next.x + extents[i].width() > wide) {
      next = {0, next.y + row};
      row = 0;
    }
    for (const std::uint32_t node : parts[i]) {
      layout.nodes[node] = layout.nodes[node] - extents[i].low + next;
    }
    next.x += extents[i].width() + kBetweenPieces;
    row = std::max(row, extents[i].height() + kBetweenPieces);
  }
  return layout;
}

}  // namespace tacos::draw
