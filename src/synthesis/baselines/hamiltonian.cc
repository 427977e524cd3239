// SPDX-License-Identifier: MIT
#include "synthesis/baselines/hamiltonian.h"

#include <algorithm>
#include <utility>

#include "base/csr.h"
#include "base/numbers/rng.h"

namespace tacos::baselines {
namespace {

class PathSearch {
 public:
  explicit PathSearch(const Setup& setup) : size_(setup.size()), place_(size_, kNowhere) {
    for (std::uint32_t from = 0; from < size_; ++from) {
      for (std::uint32_t to = 0; to < size_; ++to) {
        // Paths are turned round, so both ways are needed.
        if (from != to && setup.are_neighbours(from, to) && setup.are_neighbours(to, from)) {
          neighbours_.push_back(to);
        }
      }
      neighbours_.end_row();
    }
  }

  std::optional<std::vector<std::uint32_t>> run() {
    constexpr std::uint64_t kSteps = 200;
    extend(0);
    for (std::uint64_t step = 0; step < kSteps * size_; ++step) {
      if (path_.size() == size_ && are_neighbours(path_.back(), path_.front())) {
        return path_;
      }
      const std::uint32_t next = best_extension();
      if (next != kNowhere) {
        extend(next);
      } else if (!rotate()) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};

  [[nodiscard]] bool are_neighbours(std::uint32_t a, std::uint32_t b) const {
    return std::find(neighbours_[a].begin(), neighbours_[a].end(), b) != neighbours_[a].end();
  }
  void extend(std::uint32_t next) {
    place_[next] = static_cast<std::uint32_t>(path_.size());
    path_.push_back(next);
  }
  [[nodiscard]] std::uint32_t ways_on(std::uint32_t from) const {
    return static_cast<std::uint32_t>(
        std::count_if(neighbours_[from].begin(), neighbours_[from].end(), [&](std::uint32_t to) {
          return place_[to] == kNowhere;
        }));
  }
  [[nodiscard]] std::uint32_t best_extension() const {
    std::uint32_t best = kNowhere;
    std::uint32_t fewest = kNowhere;
    for (const std::uint32_t to : neighbours_[path_.back()]) {
      if (place_[to] == kNowhere && ways_on(to) < fewest) {
        fewest = ways_on(to);
        best = to;
      }
    }
    return best;
  }
  /// From its end back to a neighbour on the path, and from there in the other direction.
  bool rotate() {
    const auto choices = neighbours_[path_.back()];
    if (choices.empty()) {
      return false;
    }
    const std::uint32_t pivot = choices[rng_.below(static_cast<std::uint32_t>(choices.size()))];
    const std::uint32_t first = place_[pivot] + 1;
    std::reverse(path_.begin() + first, path_.end());
    for (std::uint32_t i = first; i < path_.size(); ++i) {
      place_[path_[i]] = i;
    }
    return true;
  }

  std::uint32_t size_;
  Csr<std::uint32_t> neighbours_;
  std::vector<std::uint32_t> path_;
  /// By participant, on the path.
  std::vector<std::uint32_t> place_;
  Rng rng_{1};
};

}  // namespace

std::optional<std::vector<std::uint32_t>> find_cycle(const Setup& setup) {
  return PathSearch(setup).run();
}

}  // namespace tacos::baselines
